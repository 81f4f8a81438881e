-- Criteria that are checked when their group ends: who waits, for what, and what was found.
CREATE TABLE deferred (
  task_id    TEXT NOT NULL REFERENCES tasks (id),
  place      INTEGER NOT NULL,                 -- among the criteria of the task's contract
  project    TEXT NOT NULL,
  branch     TEXT NOT NULL,                    -- that the work was merged into
  ends       TEXT NOT NULL CHECK (ends IN ('prd', 'series', 'day')),
  name       TEXT NOT NULL,                    -- of the document, the series or the day
  criterion  TEXT NOT NULL,
  paths      TEXT NOT NULL,                    -- that the task changed
  since_at   INTEGER NOT NULL,
  settled_at INTEGER,
  finding    TEXT,
  PRIMARY KEY (task_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX deferred_open ON deferred (since_at) WHERE settled_at IS NULL;

-- Files whose tests failed. A row is never changed and counts for thirty days; one task adds one of
-- a kind to a file, so that a step which is done twice is counted once.
CREATE TABLE debts (
  project TEXT NOT NULL,
  path    TEXT NOT NULL,
  task_id TEXT NOT NULL,                       -- no reference: it would be looked for at each task
  kind    TEXT NOT NULL CHECK (kind IN ('check', 'late', 'skip')),
  at      INTEGER NOT NULL,
  reason  TEXT NOT NULL,
  PRIMARY KEY (project, path, task_id, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX debts_by_time ON debts (project, at);

-- What is open of the work on a project.
CREATE INDEX tasks_at_work ON tasks (assigned_agent)
 WHERE assigned_agent IS NOT NULL AND completed_at IS NULL;
