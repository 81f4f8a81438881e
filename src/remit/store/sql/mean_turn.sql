UPDATE turns SET details = json_set(details, '$.meant', json(:meant))
 WHERE conversation_id = :conversation AND n = :n AND owed = 1;
