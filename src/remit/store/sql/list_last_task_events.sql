-- The place is in the whole journal, from 1; 0 is its end.
SELECT * FROM events WHERE task_id = :task AND (:before = 0 OR seq < :before)
ORDER BY n DESC LIMIT :limit;
