-- The same for who is written to by a user id, but also shows a number when he writes.
SELECT MAX(said_at) AS at FROM inbound
 WHERE channel = :channel AND sender <> '' AND json_extract(body, '$.user_id') = :address;
