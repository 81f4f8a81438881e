-- What was planned is planned anew; whatever has been on its way stays.
DELETE FROM deliveries WHERE task_id = :task AND status = 'pending';
