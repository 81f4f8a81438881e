INSERT INTO deliveries (id, task_id, n, part, channel, recipient, content, status)
VALUES (:id, :task, :n, 0, :channel, :recipient, :content, 'pending');
