SELECT tasks.*,
       (SELECT data FROM events WHERE task_id = tasks.id AND n = 1) AS created,
       (SELECT data FROM events
         WHERE task_id = tasks.id AND kind = 'task.updated'
           AND data ->> '$.what' IN ('as you answered', 'edited', 'followed', 'read')
         ORDER BY n DESC LIMIT 1) AS amended,
       (SELECT data ->> '$.to' FROM events
         WHERE task_id = tasks.id AND kind = 'task.moved' ORDER BY n DESC LIMIT 1) AS moved
  FROM tasks WHERE no > :no ORDER BY no LIMIT :limit;
