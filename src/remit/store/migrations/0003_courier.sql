-- What real channels need: long texts in parts, doubts with a time, permissions, what came in.

ALTER TABLE deliveries ADD COLUMN parts INTEGER NOT NULL DEFAULT 1; -- of how many this is one
ALTER TABLE deliveries ADD COLUMN doubted_at INTEGER; -- since when nobody knows
ALTER TABLE deliveries ADD COLUMN reported TEXT; -- JSON: what the provider said of it later

-- What the owner has said once and for all about writing to somebody.
CREATE TABLE permissions (
  contact TEXT NOT NULL,
  channel TEXT NOT NULL,
  policy  TEXT NOT NULL CHECK (policy = 'allow' OR policy = 'ask' OR policy = 'deny'),
  given_at INTEGER NOT NULL,
  PRIMARY KEY (contact, channel)
) STRICT, WITHOUT ROWID;

-- Everything that came in by a channel, once: a provider may say it again for days.
CREATE TABLE inbound (
  ref     TEXT PRIMARY KEY, -- the channel and the provider's own id
  channel TEXT NOT NULL,
  sender  TEXT NOT NULL, -- the address that an answer would go to
  said_at INTEGER NOT NULL,
  heard_at INTEGER NOT NULL,
  body    TEXT NOT NULL -- JSON
) STRICT, WITHOUT ROWID;
CREATE INDEX inbound_by_sender ON inbound (channel, sender, said_at);

CREATE INDEX deliveries_sent ON deliveries (channel, recipient, sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX deliveries_by_receipt ON deliveries (receipt) WHERE receipt IS NOT NULL;
CREATE INDEX reviews_about ON reviews (about) WHERE about IS NOT NULL;
