UPDATE turns SET owed = 0 WHERE conversation_id = :conversation AND n = :n AND owed = 1;
