INSERT INTO reviews (id, task_id, key, reason, question, evidence, about, digest, resume_to,
  opened_at)
VALUES (:id, :task, :key, :reason, :question, :evidence, :about, :digest, :resume_to, :now);
