-- How many stand so and are not deleted, up to a number; `gone` is how many are deleted.
SELECT COUNT(*) - :gone AS tasks FROM (
  SELECT no FROM tasks INDEXED BY tasks_by_status WHERE status = :status LIMIT :most + :gone);
