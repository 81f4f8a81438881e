-- The bytes of task files by the hash of their content, for all machines; each has copies of those that it read.
CREATE TABLE file_contents (
  sha256  TEXT PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  content BYTEA NOT NULL,
  kept_at BIGINT NOT NULL -- when it was last given; what nothing refers to is removed a day later
);
ALTER TABLE file_contents ALTER COLUMN content SET STORAGE EXTERNAL; -- most are compressed already

-- Which secrets each process has, as keyed fingerprints: two that differ can be told apart, and no value be guessed.
CREATE TABLE secret_fingerprints (
  place       TEXT NOT NULL, -- machine and process
  name        TEXT NOT NULL,
  fingerprint TEXT NOT NULL, -- empty: this process has no value
  told_at     BIGINT NOT NULL,
  PRIMARY KEY (place, name)
);
