-- The whole first schema. Times are milliseconds since 1970 in UTC.
-- Lists of words are written as `x = 'a' OR x = 'b'`: for `x IN (...)` SQLite builds a table of the
-- words at every insert and update, which made an insert three times as slow (measured).

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta (key, value) VALUES ('incarnation', '1');

-- The legal moves, as in remit.model.status.MOVES; a test compares the two.
CREATE TABLE moves (
  was TEXT NOT NULL,
  now TEXT NOT NULL,
  PRIMARY KEY (was, now)
) STRICT, WITHOUT ROWID;

INSERT INTO moves (was, now) VALUES
  ('new', 'ready'), ('new', 'cancelled'), ('new', 'paused'),
  ('ready', 'running'), ('ready', 'delivering'), ('ready', 'cancelled'), ('ready', 'paused'),
  ('running', 'verifying'), ('running', 'delivering'), ('running', 'completed'),
  ('running', 'needs_review'), ('running', 'failed'), ('running', 'cancelled'),
  ('running', 'paused'),
  ('verifying', 'delivering'), ('verifying', 'completed'), ('verifying', 'running'),
  ('verifying', 'needs_review'), ('verifying', 'cancelled'), ('verifying', 'paused'),
  ('delivering', 'completed'), ('delivering', 'failed'), ('delivering', 'needs_review'),
  ('delivering', 'cancelled'), ('delivering', 'paused'),
  ('needs_review', 'running'), ('needs_review', 'delivering'), ('needs_review', 'cancelled'),
  ('paused', 'new'), ('paused', 'ready'), ('paused', 'running'), ('paused', 'verifying'),
  ('paused', 'delivering'), ('paused', 'cancelled');

CREATE TABLE tasks (
  no             INTEGER PRIMARY KEY,
  id             TEXT NOT NULL UNIQUE CHECK (id GLOB 'task-[0-7]*' AND length(id) = 31),
  type           TEXT NOT NULL CHECK (type IN ('scheduled', 'immediate')),
  source_kind    TEXT NOT NULL CHECK (source_kind = 'caldav' OR source_kind = 'conversation' OR
                   source_kind = 'webhook' OR source_kind = 'manual' OR source_kind = 'email' OR
                   source_kind = 'whatsapp' OR source_kind = 'agent'),
  source_ref     TEXT NOT NULL,
  title          TEXT NOT NULL,
  instructions   TEXT NOT NULL,
  status         TEXT NOT NULL CHECK (status = 'new' OR status = 'ready' OR status = 'running' OR
                   status = 'verifying' OR status = 'delivering' OR status = 'needs_review' OR
                   status = 'paused' OR status = 'completed' OR status = 'failed' OR
                   status = 'cancelled'),
  reason         TEXT CHECK (reason = 'approval' OR reason = 'input' OR reason = 'auth' OR
                   reason = 'deliverable' OR reason = 'verification' OR reason = 'ambiguous' OR
                   reason = 'poison'),
  resume_to      TEXT,
  priority       TEXT NOT NULL CHECK (priority = 'low' OR priority = 'med' OR priority = 'high' OR
                   priority = 'critical'),
  queue          INTEGER NOT NULL CHECK (queue BETWEEN 0 AND 4), -- 4: not ranked yet
  due_at         INTEGER, -- when the engine shall look at it; NULL: nothing to do
  session_id     TEXT NOT NULL,
  series_id      TEXT,
  slot_at        INTEGER,
  worker         TEXT, -- who holds it
  run_id         TEXT,
  leg_at         INTEGER,
  lease          INTEGER NOT NULL DEFAULT 0, -- raised by every claim; ends every lower number
  round          INTEGER NOT NULL DEFAULT 0,
  attempts       INTEGER NOT NULL DEFAULT 0,
  crashes        INTEGER NOT NULL DEFAULT 0,
  wish           TEXT CHECK (wish = 'pause' OR wish = 'cancel' OR wish = 'delete'),
  precomposed    INTEGER NOT NULL DEFAULT 0,
  parcels        INTEGER NOT NULL DEFAULT 0, -- how many deliveries it has
  events         INTEGER NOT NULL DEFAULT 0, -- how many events it has
  created_by     TEXT NOT NULL CHECK (created_by = 'scheduler' OR created_by = 'user' OR
                   created_by = 'agent'),
  taint          TEXT NOT NULL CHECK (taint = 'owner' OR taint = 'contact' OR taint = 'public'),
  assigned_agent TEXT,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  scheduled_for  INTEGER,
  started_at     INTEGER,
  completed_at   INTEGER,
  deleted_at     INTEGER,
  retry_of       TEXT,
  result_summary TEXT,
  details        TEXT NOT NULL, -- JSON: what is read whole and never filtered by
  UNIQUE (source_kind, source_ref),
  CHECK ((status = 'needs_review') = (reason IS NOT NULL)),
  CHECK (status NOT IN ('needs_review', 'paused') OR resume_to IS NOT NULL),
  CHECK (deleted_at IS NULL OR status = 'completed' OR status = 'failed' OR status = 'cancelled')
) STRICT;

CREATE INDEX tasks_by_status ON tasks (status, no);
CREATE INDEX tasks_by_session ON tasks (session_id, no);
CREATE INDEX tasks_by_series ON tasks (series_id, no) WHERE series_id IS NOT NULL;
CREATE INDEX tasks_deleted ON tasks (status, no) WHERE deleted_at IS NOT NULL;
CREATE INDEX tasks_due ON tasks (queue, due_at, no) WHERE due_at IS NOT NULL;
CREATE INDEX tasks_held ON tasks (session_id) WHERE worker IS NOT NULL;

CREATE TRIGGER tasks_start_new BEFORE INSERT ON tasks
WHEN NEW.status <> 'new'
BEGIN SELECT RAISE(ABORT, 'illegal move: a task starts as new'); END;

CREATE TRIGGER tasks_move BEFORE UPDATE OF status ON tasks
WHEN OLD.status <> NEW.status AND (
  NOT EXISTS (SELECT 1 FROM moves WHERE was = OLD.status AND now = NEW.status)
  OR (OLD.status = 'paused' AND NEW.status NOT IN (OLD.resume_to, 'cancelled')))
BEGIN SELECT RAISE(ABORT, 'illegal move: not in the table of moves'); END;

CREATE TRIGGER tasks_stay BEFORE DELETE ON tasks
BEGIN SELECT RAISE(ABORT, 'tasks are kept; deleted_at hides them'); END;

-- Full text over what people remember of a task.
CREATE VIRTUAL TABLE tasks_text USING fts5 (
  title, instructions, result_summary,
  content = 'tasks', content_rowid = 'no', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER tasks_text_insert AFTER INSERT ON tasks BEGIN
  INSERT INTO tasks_text (rowid, title, instructions, result_summary)
  VALUES (NEW.no, NEW.title, NEW.instructions, NEW.result_summary);
END;
CREATE TRIGGER tasks_text_update AFTER UPDATE OF title, instructions, result_summary ON tasks
WHEN OLD.title <> NEW.title OR OLD.instructions <> NEW.instructions
  OR OLD.result_summary IS NOT NEW.result_summary
BEGIN
  INSERT INTO tasks_text (tasks_text, rowid, title, instructions, result_summary)
  VALUES ('delete', OLD.no, OLD.title, OLD.instructions, OLD.result_summary);
  INSERT INTO tasks_text (rowid, title, instructions, result_summary)
  VALUES (NEW.no, NEW.title, NEW.instructions, NEW.result_summary);
END;

CREATE TABLE events (
  seq     INTEGER PRIMARY KEY,
  task_id TEXT,
  n       INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  actor   TEXT NOT NULL,
  at      INTEGER NOT NULL,
  data    TEXT NOT NULL,
  hash    BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
CREATE UNIQUE INDEX events_by_task ON events (task_id, n) WHERE task_id IS NOT NULL;
CREATE TRIGGER events_kept BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER events_final BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;

-- One row a leg, written when it ends (by the reaper if its process died).
CREATE TABLE runs (
  id         TEXT PRIMARY KEY,
  task_id    TEXT NOT NULL,
  lease      INTEGER NOT NULL,
  worker     TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL,
  outcome    TEXT NOT NULL CHECK (outcome = 'done' OR outcome = 'wait' OR outcome = 'retry' OR outcome = 'fail'
                   OR outcome = 'cancelled' OR outcome = 'paused' OR outcome = 'parked' OR
                   outcome = 'crashed'),
  note       TEXT,
  UNIQUE (task_id, lease)
) STRICT, WITHOUT ROWID;

CREATE TABLE steps (
  task_id  TEXT NOT NULL,
  round    INTEGER NOT NULL,
  name     TEXT NOT NULL,
  output   TEXT NOT NULL,
  ended_at INTEGER NOT NULL,
  PRIMARY KEY (task_id, round, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
  id          TEXT PRIMARY KEY,
  task_id     TEXT NOT NULL,
  n           INTEGER NOT NULL,
  part        INTEGER NOT NULL DEFAULT 0,
  channel     TEXT NOT NULL,
  recipient   TEXT,
  content     TEXT,
  status      TEXT NOT NULL CHECK (status = 'pending' OR status = 'sending' OR status = 'sent' OR
                   status = 'refused' OR status = 'unknown'),
  body        TEXT,
  body_sha256 TEXT,
  reason      TEXT,
  receipt     TEXT,
  sent_at     INTEGER,
  UNIQUE (task_id, n, part)
) STRICT, WITHOUT ROWID;

-- One row a claim to send; `lease` fences a leg that came back from the dead.
CREATE TABLE attempts (
  delivery_id TEXT NOT NULL,
  n           INTEGER NOT NULL,
  lease       INTEGER NOT NULL,
  body_sha256 TEXT NOT NULL,
  claimed_at  INTEGER NOT NULL,
  answer      TEXT CHECK (answer = 'accepted' OR answer = 'retry' OR answer = 'refused' OR
                   answer = 'unknown'),
  note        TEXT,
  answered_at INTEGER,
  PRIMARY KEY (delivery_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE reviews (
  id         TEXT PRIMARY KEY,
  task_id    TEXT NOT NULL,
  key        TEXT NOT NULL,
  reason     TEXT NOT NULL,
  question   TEXT NOT NULL,
  evidence   TEXT NOT NULL,
  about      TEXT,
  digest     TEXT,
  resume_to  TEXT NOT NULL,
  opened_at  INTEGER NOT NULL,
  decided_at INTEGER,
  answer     TEXT,
  answer_text TEXT,
  decided_by TEXT,
  UNIQUE (task_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX reviews_open ON reviews (opened_at) WHERE decided_at IS NULL;

-- Requests answered before, so that a repeated one gets the same answer.
CREATE TABLE idempotency (
  caller     TEXT NOT NULL,
  key        TEXT NOT NULL,
  digest     TEXT NOT NULL,
  status     INTEGER NOT NULL,
  body       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (caller, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE conversations (
  id         TEXT PRIMARY KEY,
  title      TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  origin     TEXT -- where an imported one came from
) STRICT, WITHOUT ROWID;

CREATE TABLE turns (
  conversation_id TEXT NOT NULL,
  n               INTEGER NOT NULL,
  role            TEXT NOT NULL CHECK (role = 'user' OR role = 'assistant' OR role = 'system'),
  content         TEXT NOT NULL,
  said_at         INTEGER NOT NULL,
  task_id         TEXT,
  task_action     TEXT CHECK (task_action = 'created' OR task_action = 'updated' OR
                   task_action = 'discussed' OR task_action = 'completed'),
  PRIMARY KEY (conversation_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE workers (
  id         TEXT PRIMARY KEY,
  started_at INTEGER NOT NULL,
  beat_at    INTEGER NOT NULL,
  ended_at   INTEGER
) STRICT, WITHOUT ROWID;
