-- The same cue twice is the same task: the second insert changes nothing.
INSERT INTO tasks (
  id, type, source_kind, source_ref, title, instructions, status, priority, queue, due_at,
  session_id, series_id, slot_at, precomposed, parcels, events, created_by, taint, assigned_agent,
  created_at, updated_at, scheduled_for, retry_of, details
) VALUES (
  :id, :type, :source_kind, :source_ref, :title, :instructions, 'new', :priority, 4, :now,
  :session_id, :series_id, :slot_at, :precomposed, :parcels, 1, :created_by, :taint,
  :assigned_agent, :now, :now, :scheduled_for, :retry_of, :details
)
ON CONFLICT (source_kind, source_ref) DO NOTHING;
