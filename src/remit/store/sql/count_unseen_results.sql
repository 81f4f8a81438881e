-- As in list_unseen_results.sql.
SELECT COUNT(*) AS n FROM (
  SELECT id, details FROM tasks INDEXED BY tasks_ended
   WHERE status = 'completed' AND completed_at >= :since AND seen_at IS NULL AND deleted_at IS NULL
   ORDER BY completed_at DESC LIMIT :searched) AS ended
 WHERE details ->> '$.contract.type' = 'advisory'
    OR EXISTS (SELECT 1 FROM deliveries
                WHERE task_id = ended.id AND channel = 'dashboard' AND status = 'sent');
