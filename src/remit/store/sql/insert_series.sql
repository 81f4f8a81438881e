INSERT INTO series (
  id, session_id, title, rule, zone, first_at, last_at, due_at, template, created_at
) VALUES (
  :id, :session, :title, :rule, :zone, :first_at, :first_at, :first_at, :template, :now
)
ON CONFLICT (id) DO NOTHING;
