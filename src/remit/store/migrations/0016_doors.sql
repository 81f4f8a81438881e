-- What came in by a door is one table, whatever the door; this is what became of it.

ALTER TABLE inbound ADD COLUMN fate TEXT
  CHECK (fate IN ('waiting', 'started', 'talked', 'ignored', 'over'));
ALTER TABLE inbound ADD COLUMN why TEXT;
ALTER TABLE inbound ADD COLUMN task_id TEXT; -- the first task that it started

CREATE INDEX inbound_by_fate ON inbound (channel, fate, heard_at) WHERE fate IS NOT NULL;
CREATE INDEX inbound_waiting ON inbound (heard_at) WHERE fate = 'waiting';
