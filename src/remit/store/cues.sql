-- name: keep_cue
-- What a channel has kept before it was looked at as a cue is taken up where it stands, with its
-- files.
INSERT INTO inbound (ref, channel, sender, said_at, heard_at, body, fate, why)
VALUES (:ref, :door, :sender, :said, :heard, :body, :fate, :why)
ON CONFLICT (ref) DO UPDATE SET fate = excluded.fate, why = excluded.why, body = excluded.body
 WHERE inbound.fate IS NULL;

-- name: settle_cue
UPDATE inbound SET fate = :fate, why = :why, task_id = :task
 WHERE ref = :ref AND fate IN ('waiting', 'ignored', 'over');

-- name: list_waiting_cues
-- What was taken in and never begun, oldest first.
SELECT * FROM inbound WHERE fate = 'waiting' ORDER BY heard_at LIMIT :most;

-- name: list_cues
-- What came in by the doors, newest first.
SELECT * FROM inbound WHERE fate IS NOT NULL ORDER BY heard_at DESC, ref LIMIT :most;

-- name: count_cues
-- How many came by each door since a moment, by what became of them.
SELECT channel AS door, fate, COUNT(*) AS cues FROM inbound
 WHERE fate IS NOT NULL AND heard_at >= :since GROUP BY channel, fate;

-- name: count_begun_cues
-- How many of one door were begun since a moment; of one sender, if one is named.
SELECT COUNT(*) AS cues FROM inbound
 WHERE channel = :door AND fate IN ('waiting', 'started', 'talked') AND heard_at >= :since
   AND (CAST(:sender AS TEXT) IS NULL OR sender = :sender);

-- name: sum_cue_spending
-- What the tasks have used since a moment that one door has started.
SELECT CAST(COALESCE(SUM(tokens), 0) AS BIGINT) AS tokens,
       CAST(COALESCE(SUM(cents), 0) AS BIGINT) AS cents
  FROM spending
 WHERE at >= :since
   AND task_id IN (SELECT task_id FROM inbound
                    WHERE channel = :door AND fate = 'started' AND task_id IS NOT NULL);

-- name: count_idle_cues
SELECT COUNT(*) AS cues FROM inbound
 WHERE channel = :door AND fate IN ('ignored', 'over') AND heard_at >= :since;

-- name: insert_inbound
-- A provider may say the same for days; it is kept once.
INSERT INTO inbound (ref, channel, sender, said_at, heard_at, body)
VALUES (:ref, :channel, :sender, :said, :heard, :body)
ON CONFLICT (ref) DO NOTHING;

-- name: get_inbound
SELECT * FROM inbound WHERE ref = :ref;

-- name: prune_inbound
-- What waits to be begun was promised to who sent it.
DELETE FROM inbound WHERE heard_at < :before AND (fate IS NULL OR fate <> 'waiting');

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
