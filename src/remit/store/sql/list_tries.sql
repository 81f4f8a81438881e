-- Who tried, what was left and what was found, in every round.
SELECT round, name, output, ended_at FROM steps
 WHERE task_id = :task
   AND (name GLOB 'execute_tool*' OR name GLOB 'look:*' OR name GLOB 'verify*');
