-- name: insert_inbound
-- A provider may say the same for days; it is kept once.
INSERT INTO inbound (ref, channel, sender, said_at, heard_at, body)
VALUES (:ref, :channel, :sender, :said, :heard, :body)
ON CONFLICT (ref) DO NOTHING;

-- name: get_inbound
SELECT * FROM inbound WHERE ref = :ref;

-- name: prune_inbound
DELETE FROM inbound WHERE heard_at < :before;

-- name: last_inbound_from
-- When somebody last wrote, by the address that an answer goes to. Reports have no sender.
SELECT MAX(said_at) AS at FROM inbound
 WHERE channel = :channel AND sender = :address AND sender <> '';

-- name: last_inbound_of_user_id
-- The same for who is written to by a user id, but also shows a number when he writes.
SELECT MAX(said_at) AS at FROM inbound
 WHERE channel = :channel AND sender <> '' AND json_extract(body, '$.user_id') = :address;

-- name: list_inbound
-- What came in under refs that begin alike, oldest first.
SELECT * FROM inbound WHERE ref >= :begin AND ref < :end ORDER BY ref;
