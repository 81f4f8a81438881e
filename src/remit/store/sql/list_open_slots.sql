-- Occurrences shortly before a slot that have begun and not ended, or were to begin before.
SELECT * FROM (
  SELECT * FROM tasks INDEXED BY tasks_by_slot
   WHERE series_id = :series AND slot_at < :slot ORDER BY slot_at DESC LIMIT 100)
 WHERE completed_at IS NULL AND (started_at IS NOT NULL OR :unbegun);
