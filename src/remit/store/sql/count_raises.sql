-- How often the owner let a task go over a limit.
SELECT COUNT(*) AS raises
  FROM reviews
 WHERE task_id = :task AND about = :about AND answer = 'approve' AND decided_at >= :since;
