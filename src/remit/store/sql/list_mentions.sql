SELECT * FROM mentions
 WHERE conversation_id = :conversation AND n BETWEEN :first AND :last
 ORDER BY n, task_id;
