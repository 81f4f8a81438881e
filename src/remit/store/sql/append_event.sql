INSERT INTO events (seq, task_id, n, kind, actor, at, data, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?);
