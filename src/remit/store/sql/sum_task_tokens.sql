-- What its requests took, each way, as far as their vendors said so.
SELECT COALESCE(SUM(output ->> '$.usage.asked'), 0) AS asked,
       COALESCE(SUM(output ->> '$.usage.answered'), 0) AS answered,
       COALESCE(SUM(output ->> '$.usage.cached'), 0) AS cached
  FROM steps WHERE task_id = :task AND name GLOB 'execute_tool*';
