-- Who may call: programs with a token, browsers that are signed in. Of a secret only its hash is kept.

CREATE TABLE tokens (
  id      TEXT PRIMARY KEY,
  name    TEXT NOT NULL,
  agent   INTEGER NOT NULL CHECK (agent BETWEEN 0 AND 1), -- it never decides, whatever its scopes say
  scopes  TEXT NOT NULL, -- words, parted by spaces
  hash    BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  used_at    INTEGER,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
-- What it did is told by its name, so no two that count share one.
CREATE UNIQUE INDEX tokens_by_name ON tokens (name) WHERE revoked_at IS NULL;

-- A browser of the owner's.
CREATE TABLE sign_ins (
  id      TEXT PRIMARY KEY,
  hash    BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  used_at    INTEGER,
  expires_at INTEGER NOT NULL,
  ended_at   INTEGER
) STRICT, WITHOUT ROWID;

-- What a printed link carries: it opens once.
CREATE TABLE sign_in_codes (
  hash    BLOB PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
