-- Occurrences to come that were ended as if their time had passed.
SELECT id, slot_at FROM tasks
 WHERE series_id = :series AND slot_at > :now AND slot_at <= :reached
   AND status = 'cancelled' AND started_at IS NULL AND completed_at > :ahead;
