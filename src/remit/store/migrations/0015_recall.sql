-- What the index of recall holds: which words of a task were read into it, and what stands beside
-- them. A task without a row is not in the index yet. The vectors themselves lie with the index.
CREATE TABLE snippets (
  task_id TEXT PRIMARY KEY REFERENCES tasks (id),
  words   TEXT NOT NULL,  -- a digest
  beside  TEXT NOT NULL   -- another
) STRICT, WITHOUT ROWID;
