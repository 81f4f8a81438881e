-- Several processes on one database. What each of them adds to the journal waits in `unsealed` until
-- whoever seals gives it its place and its hash in `events`, in batches. Nothing in `events` changes.
CREATE TABLE unsealed (
  id      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  task_id TEXT,
  n       BIGINT NOT NULL,
  kind    TEXT NOT NULL,
  actor   TEXT NOT NULL,
  at      BIGINT NOT NULL,
  data    JSON NOT NULL
);
CREATE UNIQUE INDEX unsealed_by_task ON unsealed (task_id, n) WHERE task_id IS NOT NULL;

CREATE TRIGGER unsealed_final BEFORE UPDATE ON unsealed FOR EACH ROW
EXECUTE FUNCTION refuse('the journal is append-only');

-- For who reads the journal of one task: with what waits for its seal, behind all that has one.
CREATE VIEW journal AS
SELECT seq, task_id, n, kind, actor, at, data, hash FROM events
UNION ALL
SELECT 1000000000000000 + id, task_id, n, kind, actor, at, data, CAST('' AS BYTEA) FROM unsealed;

-- Work that only one process may do at a time. Who takes it over raises its number, and writes of
-- the one before are refused from then on.
CREATE TABLE duties (
  name   TEXT PRIMARY KEY,
  number BIGINT NOT NULL,
  worker TEXT NOT NULL
);

-- What the workers of several machines can take, and what they run; their beats are in `workers`.
CREATE TABLE worker_loads (
  worker TEXT PRIMARY KEY REFERENCES workers (id),
  place  TEXT NOT NULL, -- machine and process
  queues TEXT NOT NULL,
  slots  BIGINT NOT NULL,
  runs   JSON NOT NULL -- ids of tasks, and names of duties
);
