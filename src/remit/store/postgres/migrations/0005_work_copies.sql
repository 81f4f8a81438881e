-- Unfinished code work, so that another machine can go on with it: a git bundle on the base of the task's folder.
CREATE TABLE work_copies (
  task_id   TEXT PRIMARY KEY REFERENCES tasks (id),
  commit_id TEXT NOT NULL,
  bundle    BYTEA NOT NULL
);
ALTER TABLE work_copies ALTER COLUMN bundle SET STORAGE EXTERNAL; -- git has compressed it
