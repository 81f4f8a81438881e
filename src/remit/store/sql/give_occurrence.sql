UPDATE occurrences SET state = 'given', task_id = :task
 WHERE uid = :uid AND key = :key AND state = 'planned';
