-- How often something was sent or tried lately, for limits that all processes keep together.
CREATE TABLE rates (
  name  TEXT PRIMARY KEY,
  state TEXT NOT NULL, -- JSON; empty at first
  until BIGINT NOT NULL -- then it may be forgotten
);
CREATE INDEX rates_by_end ON rates (until);

-- Settings, contacts, rules and guidelines: every version of each file that all machines use.
CREATE TABLE documents (
  name    TEXT NOT NULL,
  version BIGINT NOT NULL,
  content TEXT NOT NULL,
  place   TEXT NOT NULL, -- the machine and process that it came from
  at      BIGINT NOT NULL,
  PRIMARY KEY (name, version)
);
