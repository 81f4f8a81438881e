INSERT INTO turns (conversation_id, n, role, content, said_at, task_id, task_action,
                   channel, key, answers, owed, details)
VALUES (:conversation, :n, :role, :content, :now, :task, :action,
        :channel, :key, :answers, :owed, :details);
