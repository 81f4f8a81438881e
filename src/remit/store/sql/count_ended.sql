-- How many ended so, hour by hour.
SELECT (completed_at - :since) / 3600000 AS hour, COUNT(*) AS n FROM tasks INDEXED BY tasks_ended
 WHERE status = :status AND completed_at >= :since AND completed_at < :until GROUP BY 1;
