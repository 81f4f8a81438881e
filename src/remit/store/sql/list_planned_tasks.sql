-- What is open and planned for a time between two moments.
SELECT * FROM tasks INDEXED BY tasks_planned
 WHERE scheduled_for >= :since AND scheduled_for < :until AND completed_at IS NULL
 ORDER BY scheduled_for, no LIMIT :limit;
