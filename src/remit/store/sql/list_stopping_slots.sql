-- Occurrences that are at work and shall end.
SELECT * FROM tasks INDEXED BY tasks_by_series
 WHERE series_id = :series AND worker IS NOT NULL AND wish = 'cancel';
