-- What was told over a way is not told again, whatever says it.
INSERT INTO notices (
  id, seq, about, kind, way, task_id, title, line, href, state, made_at, due_at, held, told_at
) VALUES (
  :id, :seq, :about, :kind, :way, :task, :title, :line, :href, :state, :made, :due, :held, :told
)
ON CONFLICT DO NOTHING;
