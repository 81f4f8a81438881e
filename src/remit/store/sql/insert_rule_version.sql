INSERT INTO rule_versions (key, file, was, digest, why, by, task_id, reverts, made_at)
VALUES (:key, :file, :was, :digest, :why, :by, :task, :reverts, :now)
ON CONFLICT (key) DO NOTHING;
