INSERT INTO mentions (conversation_id, n, task_id, action)
VALUES (:conversation, :n, :task, :action);
