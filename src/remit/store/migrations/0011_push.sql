-- Browsers that are told when no page is open: where, and with which keys of theirs.

CREATE TABLE subscriptions (
  id         TEXT PRIMARY KEY, -- the hash of its endpoint
  endpoint   TEXT NOT NULL,
  p256dh     TEXT NOT NULL,
  auth       TEXT NOT NULL,
  sign_in_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_ok    INTEGER,
  failures   INTEGER NOT NULL DEFAULT 0 -- in a row
) STRICT, WITHOUT ROWID;
CREATE INDEX subscriptions_by_sign_in ON subscriptions (sign_in_id);

-- Whoever is signed out is told nothing more, whichever way it ended.
CREATE TRIGGER subscriptions_end AFTER UPDATE OF ended_at ON sign_ins
WHEN NEW.ended_at IS NOT NULL
BEGIN
  DELETE FROM subscriptions WHERE sign_in_id = NEW.id;
END;
