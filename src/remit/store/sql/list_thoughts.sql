-- What the last round of some tasks thought, turn by turn, in no order.
SELECT steps.task_id, steps.name,
       CASE WHEN :whole THEN steps.output ->> '$.state' END AS state,
       COALESCE(length(steps.output ->> '$.state'), 0) AS size,
       COALESCE(json_array_length(steps.output, '$.calls'), 0) AS calls,
       COALESCE(steps.output ->> '$.usage.context', 0) AS context
  FROM tasks CROSS JOIN steps ON steps.task_id = tasks.id AND steps.round = tasks.round
 WHERE tasks.id IN (SELECT value FROM json_each(:tasks))
   AND (steps.name = 'execute_tool' OR steps.name GLOB 'execute_tool:*');
