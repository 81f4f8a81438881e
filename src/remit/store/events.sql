-- name: append_event
INSERT INTO events (seq, task_id, n, kind, actor, at, data, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: list_events
SELECT * FROM events WHERE seq > :seq ORDER BY seq LIMIT :limit;

-- name: list_task_events
SELECT * FROM events WHERE task_id = :task AND n > :n ORDER BY n LIMIT :limit;

-- name: list_last_task_events
-- The place is in the whole journal, from 1; 0 is its end.
SELECT * FROM events WHERE task_id = :task AND (:before = 0 OR seq < :before)
ORDER BY n DESC LIMIT :limit;

-- name: last_event
SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1;
