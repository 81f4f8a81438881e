SELECT * FROM turns WHERE conversation_id = :conversation AND n = :n;
