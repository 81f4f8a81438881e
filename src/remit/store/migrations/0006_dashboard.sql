-- What the pages ask: who has seen what, what was put off, and lists along indexes of their own.

ALTER TABLE tasks ADD COLUMN seen_at INTEGER; -- the owner has looked at how it ended
ALTER TABLE reviews ADD COLUMN later_until INTEGER; -- the owner said: not before then
ALTER TABLE series ADD COLUMN paused_at INTEGER;

-- The common value of a word has no index: whoever asks for it finds it wherever he looks.
CREATE INDEX tasks_by_source ON tasks (source_kind, no) WHERE source_kind <> 'manual';
CREATE INDEX tasks_by_taint ON tasks (taint, no) WHERE taint <> 'owner';
CREATE INDEX tasks_by_priority ON tasks (priority, no) WHERE priority <> 'low';
CREATE INDEX tasks_scheduled ON tasks (no) WHERE type = 'scheduled';
CREATE INDEX tasks_recurring ON tasks (no) WHERE series_id IS NOT NULL;
CREATE INDEX tasks_planned ON tasks (scheduled_for, no)
  WHERE scheduled_for IS NOT NULL AND completed_at IS NULL;
CREATE INDEX tasks_ended ON tasks (status, completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX deliveries_by_channel ON deliveries (channel, task_id) WHERE channel <> 'dashboard';

-- Filters that the owner gave a name to.
CREATE TABLE views (
  name       TEXT PRIMARY KEY,
  filter     TEXT NOT NULL, -- as it is typed
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
