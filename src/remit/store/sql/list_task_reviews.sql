-- The questions of a task, and the open card of its message, if that belongs to another task of it.
SELECT * FROM reviews WHERE task_id = :task
UNION ALL
SELECT * FROM reviews
 WHERE decided_at IS NULL AND task_id <> :task AND about GLOB 'card:*' AND instr(about, :task) > 0
   AND (SELECT status FROM tasks WHERE id = :task) IN ('new', 'paused')
 ORDER BY opened_at;
