-- What the owner is told, and over which way: each thing once over each of them.

CREATE TABLE notices (
  no         INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  seq        INTEGER, -- the event that it tells; a test tells none
  about      TEXT NOT NULL, -- one thing, whatever event says it again
  kind       TEXT NOT NULL CHECK (kind = 'question' OR kind = 'done' OR kind = 'failed' OR
    kind = 'lost' OR kind = 'missed' OR kind = 'refused' OR kind = 'test'),
  way        TEXT NOT NULL, -- conversation, push, digest, or a channel's name
  task_id    TEXT,
  title      TEXT NOT NULL,
  line       TEXT NOT NULL,
  href       TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state = 'new' OR state = 'claimed' OR state = 'sent' OR
    state = 'unknown' OR state = 'failed' OR state = 'dropped'),
  made_at    INTEGER NOT NULL,
  due_at     INTEGER, -- when something is to be done about it; NULL: nothing is
  held       INTEGER NOT NULL DEFAULT 0 CHECK (held BETWEEN 0 AND 1), -- told with the others
  attempts   INTEGER NOT NULL DEFAULT 0,
  claimed_at INTEGER,
  told_at    INTEGER,
  parcel     TEXT, -- the notice under whose id the message went that this one is in
  channel    TEXT, -- that it went by
  body       TEXT, -- of that message, with the notice that it is called after
  sha256     TEXT,
  receipt    TEXT,
  why        TEXT,
  UNIQUE (about, way),
  UNIQUE (seq, way),
  CHECK (state <> 'claimed' OR (claimed_at IS NOT NULL AND parcel IS NOT NULL))
) STRICT;
CREATE INDEX notices_due ON notices (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX notices_claimed ON notices (no) WHERE state = 'claimed';
CREATE INDEX notices_by_parcel ON notices (parcel) WHERE parcel IS NOT NULL;
CREATE INDEX notices_by_receipt ON notices (receipt) WHERE receipt IS NOT NULL;
CREATE INDEX notices_by_pace ON notices (way, kind, claimed_at) WHERE claimed_at IS NOT NULL;

-- Events that start nothing: which of them the owner has seen, as they were then.
ALTER TABLE resources ADD COLUMN seen_etag TEXT;
CREATE INDEX resources_refused ON resources (account, calendar, path) WHERE why IS NOT NULL;

-- Starts that were dropped are forgotten after a while.
CREATE INDEX occurrences_dropped ON occurrences (start_at) WHERE state = 'dropped';
