-- Calendars that work starts from: what was read of them, and when each of it begins.

-- One row for each calendar that was ever seen. `token` is what the server calls its state.
CREATE TABLE calendars (
  account   TEXT NOT NULL,
  path      TEXT NOT NULL,
  name      TEXT NOT NULL,
  marked    INTEGER NOT NULL CHECK (marked BETWEEN 0 AND 1),
  trusted   INTEGER NOT NULL CHECK (trusted BETWEEN 0 AND 1), -- it holds the owner's own words
  token     TEXT NOT NULL DEFAULT '',
  looked_at INTEGER, -- when it was last read whole; what began before then had its chance
  why       TEXT, -- it could not be read since
  PRIMARY KEY (account, path)
) STRICT, WITHOUT ROWID;

-- What lies in them, as it was read.
CREATE TABLE resources (
  no       INTEGER PRIMARY KEY, -- of two with one uid the first counts
  account  TEXT NOT NULL,
  calendar TEXT NOT NULL,
  path     TEXT NOT NULL,
  etag     TEXT NOT NULL,
  uid      TEXT NOT NULL,
  body     TEXT NOT NULL,
  until_at INTEGER NOT NULL, -- up to where its starts are known
  why      TEXT, -- nothing of it starts
  UNIQUE (account, calendar, path)
) STRICT;
CREATE INDEX resources_by_uid ON resources (uid, no);
CREATE INDEX resources_by_end ON resources (until_at);

-- Each start that an event names. It is known by its uid and its key, whatever calendar it is in.
CREATE TABLE occurrences (
  uid      TEXT NOT NULL,
  key      TEXT NOT NULL, -- '' for what comes once
  account  TEXT NOT NULL,
  calendar TEXT NOT NULL,
  start_at INTEGER NOT NULL,
  title    TEXT NOT NULL,
  body     TEXT NOT NULL,
  taint    TEXT NOT NULL CHECK (taint = 'owner' OR taint = 'contact' OR taint = 'public'),
  state    TEXT NOT NULL CHECK (state = 'planned' OR state = 'given' OR state = 'dropped'),
  tries    INTEGER NOT NULL DEFAULT 0, -- how often it was taken out and put back
  task_id  TEXT,
  why      TEXT, -- it was dropped
  PRIMARY KEY (uid, key),
  CHECK (state <> 'given' OR task_id IS NOT NULL),
  CHECK ((state = 'dropped') = (why IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX occurrences_by_start ON occurrences (start_at);
CREATE INDEX occurrences_planned ON occurrences (start_at) WHERE state = 'planned';
CREATE INDEX occurrences_given ON occurrences (uid, start_at) WHERE state = 'given';

-- What all starts of one event share, on whatever server it lies.
CREATE TABLE event_series (
  uid        TEXT PRIMARY KEY,
  series_id  TEXT NOT NULL,
  session_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The tasks as they stand in the list that phones see.
CREATE TABLE mirrored (
  task_id TEXT PRIMARY KEY,
  etag    TEXT NOT NULL, -- '' if somebody took it out: it is not put back
  digest  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
