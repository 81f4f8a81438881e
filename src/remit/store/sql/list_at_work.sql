-- What is open of the work on a project. A row that cannot be read is of no document.
SELECT id, series_id, started_at,
       CASE WHEN json_valid(details) THEN json_extract(details, '$.context.prd') END AS prd
  FROM tasks
 WHERE assigned_agent = :agent AND completed_at IS NULL;
