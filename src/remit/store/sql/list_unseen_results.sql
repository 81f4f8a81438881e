-- Results of late that are for the owner's own eyes, and that he has not looked at.
SELECT * FROM (
  SELECT * FROM tasks INDEXED BY tasks_ended
   WHERE status = 'completed' AND completed_at >= :since AND seen_at IS NULL AND deleted_at IS NULL
   ORDER BY completed_at DESC LIMIT :searched) AS ended
 WHERE details ->> '$.contract.type' = 'advisory'
    OR EXISTS (SELECT 1 FROM deliveries
                WHERE task_id = ended.id AND channel = 'dashboard' AND status = 'sent')
 LIMIT :limit;
