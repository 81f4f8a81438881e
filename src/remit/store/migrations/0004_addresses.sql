-- Where a message was let go to, beside whom it is for: who is who may change in the book.

ALTER TABLE deliveries ADD COLUMN address TEXT;
ALTER TABLE permissions ADD COLUMN address TEXT NOT NULL DEFAULT ''; -- to allow holds for it alone

CREATE INDEX deliveries_by_address ON deliveries (channel, address) WHERE address IS NOT NULL;
DROP INDEX deliveries_sent;
