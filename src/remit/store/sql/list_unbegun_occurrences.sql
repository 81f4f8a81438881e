-- The occurrences that wait for their time.
SELECT * FROM (
  SELECT * FROM tasks INDEXED BY tasks_by_series WHERE series_id = :series AND slot_at IS NOT NULL
   ORDER BY no DESC LIMIT 20)
 WHERE started_at IS NULL AND worker IS NULL AND status IN ('new', 'ready', 'paused')
 ORDER BY slot_at;
