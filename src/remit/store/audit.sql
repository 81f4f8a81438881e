-- name: audit_gaps
SELECT tasks.id, MAX(tasks.events) AS events, COUNT(events.n) AS found, MAX(events.n) AS last
  FROM tasks LEFT JOIN events ON events.task_id = tasks.id
 GROUP BY tasks.id
HAVING COUNT(events.n) <> MAX(tasks.events) OR MAX(events.n) IS DISTINCT FROM MAX(tasks.events);

-- name: audit_restores
SELECT seq, kind, data, NULL AS about FROM events WHERE kind = 'store.restored' ORDER BY seq;

-- name: audit_tasks
SELECT tasks.*,
       (SELECT data FROM events WHERE task_id = tasks.id AND n = 1) AS created,
       (SELECT data FROM events
         WHERE task_id = tasks.id AND kind = 'task.updated'
           AND data ->> 'what' IN ('as you answered', 'edited', 'followed', 'read')
         ORDER BY n DESC LIMIT 1) AS amended,
       (SELECT data ->> 'to' FROM events
         WHERE task_id = tasks.id AND kind = 'task.moved' ORDER BY n DESC LIMIT 1) AS moved
  FROM tasks WHERE no > :no ORDER BY no LIMIT :limit;

-- name: audit_reviews
SELECT reviews.*,
       (SELECT data FROM events
         WHERE task_id = reviews.task_id AND kind = 'review.opened'
           AND data ->> 'review' = reviews.id) AS opened
  FROM reviews WHERE id > :after ORDER BY id LIMIT :limit;

-- name: audit_sends
-- Everything that decides where the deliveries of some tasks stand, in the order it happened.
SELECT events.seq, events.kind, events.data, reviews.about
  FROM events
  LEFT JOIN reviews ON events.kind = 'review.decided' AND reviews.id = events.data ->> 'review'
 WHERE events.task_id IN (SELECT value FROM json_each(:tasks))
   AND events.kind IN ('delivery.claimed', 'delivery.settled', 'review.decided')
 ORDER BY events.seq;
