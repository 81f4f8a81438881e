-- Work that comes back, what its runs remember, and what they cost.

-- `due_at` is when the next occurrence must be put in: as soon as the last one is due. NULL: never.
CREATE TABLE series (
  id         TEXT PRIMARY KEY CHECK (id GLOB 'ser-[0-7]*' AND length(id) = 30),
  session_id TEXT NOT NULL,
  title      TEXT NOT NULL,
  rule       TEXT NOT NULL, -- an RRULE
  zone       TEXT NOT NULL,
  first_at   INTEGER NOT NULL,
  last_at    INTEGER NOT NULL, -- the latest slot that has an occurrence
  due_at     INTEGER,
  template   TEXT NOT NULL, -- JSON: the task that every occurrence is made of
  created_at INTEGER NOT NULL,
  ended_at   INTEGER,
  why        TEXT, -- it ended
  CHECK (last_at >= first_at),
  CHECK (ended_at IS NULL OR due_at IS NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX series_due ON series (due_at) WHERE due_at IS NOT NULL;

-- A slot is run once. What came from elsewhere may have a series without slots.
CREATE UNIQUE INDEX tasks_by_slot ON tasks (series_id, slot_at)
  WHERE series_id IS NOT NULL AND slot_at IS NOT NULL;

-- Slots that were passed over, in one row as long as they follow on each other for one reason.
CREATE TABLE skips (
  series_id TEXT NOT NULL,
  from_at   INTEGER NOT NULL,
  upto_at   INTEGER NOT NULL,
  slots     INTEGER NOT NULL CHECK (slots > 0),
  why       TEXT NOT NULL,
  at        INTEGER NOT NULL,
  PRIMARY KEY (series_id, from_at)
) STRICT, WITHOUT ROWID;

-- What the older runs of a session came to. It is a view: the runs themselves stay as they are.
CREATE TABLE sessions (
  id         TEXT PRIMARY KEY,
  summary    TEXT NOT NULL,
  upto_at    INTEGER NOT NULL, -- when the last task that is summed up ended
  upto       INTEGER NOT NULL, -- its `no`: two may have ended in one millisecond
  runs       INTEGER NOT NULL CHECK (runs > 0), -- how many are
  since      INTEGER NOT NULL, -- when the first of them ended
  taint      TEXT NOT NULL CHECK (taint = 'owner' OR taint = 'contact' OR taint = 'public')
) STRICT, WITHOUT ROWID;

-- What each request to a model was reckoned to cost, and, once settled, what it cost.
CREATE TABLE spending (
  key       TEXT PRIMARY KEY,
  task_id   TEXT NOT NULL,
  series_id TEXT,
  at        INTEGER NOT NULL,
  tokens    INTEGER NOT NULL,
  cents     INTEGER NOT NULL,
  requests  INTEGER NOT NULL,
  settled   INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX spending_by_task ON spending (task_id);
CREATE INDEX spending_by_series ON spending (series_id, at) WHERE series_id IS NOT NULL;
CREATE INDEX spending_by_time ON spending (at);

-- How urgent a model found a text, so that it is asked once.
CREATE TABLE scores (
  digest TEXT PRIMARY KEY,
  score  REAL NOT NULL,
  why    TEXT NOT NULL,
  at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
