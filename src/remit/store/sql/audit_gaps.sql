SELECT tasks.id, tasks.events, COUNT(events.n) AS found, MAX(events.n) AS last
  FROM tasks LEFT JOIN events ON events.task_id = tasks.id
 GROUP BY tasks.id
HAVING COUNT(events.n) <> tasks.events OR MAX(events.n) IS NOT tasks.events;
