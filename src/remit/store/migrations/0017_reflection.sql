-- Changes of the files that lessons are taught to: rules/priority.yml and guidelines.txt. The texts
-- themselves lie in rules/versions/, by their digests.
CREATE TABLE rule_versions (
  no       INTEGER PRIMARY KEY,
  key      TEXT NOT NULL UNIQUE, -- who wrote it, once: a step that is done again changes nothing
  file     TEXT NOT NULL,
  was      TEXT NOT NULL,
  digest   TEXT NOT NULL,
  why      TEXT NOT NULL,
  by       TEXT NOT NULL,
  task_id  TEXT,
  reverts  INTEGER,
  made_at  INTEGER NOT NULL
) STRICT;
