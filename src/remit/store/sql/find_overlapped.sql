-- Whether an occurrence would begin while one before it is open, where that is forbidden. A series
-- that came from elsewhere has no row, and is as the settings say.
SELECT 1
 WHERE COALESCE((SELECT overlap FROM series WHERE id = :series),
                (SELECT value FROM meta WHERE key = 'overlap')) = 'skip'
   AND EXISTS (
     SELECT 1 FROM (
       SELECT started_at, completed_at FROM tasks INDEXED BY tasks_by_slot
        WHERE series_id = :series AND slot_at < :slot ORDER BY slot_at DESC LIMIT 100)
      WHERE started_at IS NOT NULL AND completed_at IS NULL);
