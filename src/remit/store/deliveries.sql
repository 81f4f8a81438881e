-- name: claim_delivery
UPDATE deliveries
   SET status = 'sending', body = :body, body_sha256 = :digest, reason = NULL, address = :address
 WHERE id = :id AND status = 'pending';

-- name: insert_attempt
INSERT INTO attempts (delivery_id, n, lease, body_sha256, claimed_at)
SELECT :id, COUNT(*) + 1, :lease, :digest, :now FROM attempts WHERE delivery_id = :id
RETURNING n;

-- name: answer_attempt
-- Evidence is kept even if the lease is gone: it may settle a doubt later.
UPDATE attempts SET answer = :answer, note = :note, answered_at = :now
 WHERE delivery_id = :id AND n = :n AND lease = :lease AND answer IS NULL;

-- name: settle_delivery
-- Only the leg that still holds the lease may settle what it claimed.
UPDATE deliveries
   SET status = :to, reason = :why, receipt = COALESCE(:receipt, receipt),
       sent_at = CASE WHEN :to = 'sent' THEN CAST(:now AS BIGINT) END,
       doubted_at = CASE WHEN :to = 'unknown' THEN CAST(:now AS BIGINT) END
 WHERE id = :id AND status = 'sending'
   AND EXISTS (SELECT 1 FROM tasks WHERE id = :task AND lease = :lease AND worker IS NOT NULL);

-- name: post_delivery
UPDATE deliveries
   SET status = 'sent', body = :body, body_sha256 = :digest, receipt = 'dashboard', sent_at = :now
 WHERE id = :id AND status = 'pending';

-- name: doubt_delivery
UPDATE deliveries SET status = 'unknown', reason = :why, doubted_at = :now
 WHERE id = :id AND status = 'sending';

-- name: split_delivery
-- The first part takes the place of the whole, the others stand behind it.
INSERT INTO deliveries (id, task_id, n, part, parts, channel, recipient, content, status, body,
  address)
SELECT :id, task_id, n, CAST(:part AS BIGINT), CAST(:parts AS BIGINT), channel, recipient,
       CASE WHEN CAST(:part AS BIGINT) = 0 THEN content END, 'pending', CAST(:body AS TEXT),
       CAST(:address AS TEXT)
  FROM deliveries WHERE id = :of AND status = 'pending' AND (parts = 1 OR CAST(:part AS BIGINT) > 0)
ON CONFLICT (id) DO UPDATE
   SET parts = excluded.parts, body = excluded.body, address = excluded.address;

-- name: sum_attempts
-- What may be out: whatever was claimed and is not known to have stayed.
SELECT COUNT(*) AS last, MAX(claimed_at) AS last_at,
       COUNT(CASE WHEN answer IS NULL OR answer = 'unknown' OR answer = 'accepted' THEN 1 END) AS out
  FROM attempts WHERE delivery_id = :id;

-- name: find_delivery
-- By the key that went out with it, or else by the provider's own name for it; on one channel alone.
SELECT * FROM deliveries
 WHERE channel = :channel
   AND id = COALESCE(:key,
       (SELECT id FROM deliveries WHERE receipt = :ref AND channel = :channel LIMIT 1));

-- name: report_delivery
-- Kept until the send itself is settled: a report may be quicker than the answer it is about.
-- That something failed settles nothing while it is to be sent (again), or while two sends are out
-- and nobody knows which of them is meant.
UPDATE deliveries SET reported = :reported
 WHERE id = :id AND status <> 'sent' AND status <> 'refused'
   AND (:arrived OR (reported IS NULL AND status <> 'pending' AND 1 =
     (SELECT COUNT(*) FROM attempts
       WHERE delivery_id = :id AND (answer IS NULL OR answer = 'unknown' OR answer = 'accepted'))));

-- name: add_review_evidence
-- What a provider said after the owner was asked; the answer stays his.
UPDATE reviews SET evidence = evidence || :said WHERE about = :about AND decided_at IS NULL;

-- name: wake_task
-- There is news for a task that waits for it.
UPDATE tasks SET due_at = :now, updated_at = :now
 WHERE id = :id AND status = 'delivering' AND worker IS NULL AND due_at > :now;

-- name: resolve_delivery
-- A doubt is settled by what its channel found out or was told.
UPDATE deliveries
   SET status = :to, reason = :why, receipt = COALESCE(:receipt, receipt), doubted_at = NULL,
       sent_at = CASE WHEN :to = 'sent' THEN CAST(:now AS BIGINT) END
 WHERE id = :id AND (status = 'unknown' OR status = 'pending');

-- name: list_deliveries
SELECT * FROM deliveries WHERE task_id = :task ORDER BY n, part;

-- name: last_trouble
-- What went wrong last on a channel, among the newest that it was given.
SELECT reason FROM (
  SELECT task_id, status, reason FROM deliveries
   WHERE channel = :channel AND channel <> 'dashboard' ORDER BY task_id DESC LIMIT 200)
 WHERE reason IS NOT NULL AND status IN ('refused', 'unknown', 'pending') LIMIT 1;

-- name: find_thread
-- Which task a message is about, by its key, and to whom it goes: a delivery, or a notice that goes alone.
SELECT task_id, recipient FROM deliveries WHERE id = :id
 UNION ALL
SELECT task_id, NULL FROM notices
 WHERE id = :id AND task_id IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM notices AS more WHERE more.parcel = :id AND more.id <> :id);

-- name: list_thread
-- What a person was sent before in a session by a channel, newest first.
SELECT sent.receipt
  FROM tasks AS other
  JOIN deliveries AS sent ON sent.task_id = other.id
 WHERE other.session_id = :session AND sent.id <> :id AND sent.status = 'sent'
   AND sent.channel = :channel AND sent.recipient IS NOT DISTINCT FROM :recipient
   AND sent.receipt IS NOT NULL
 ORDER BY sent.sent_at DESC, sent.id DESC
 LIMIT :limit;

-- name: first_in_thread
-- The words of the first message that a person was sent in a session by a channel.
SELECT COALESCE(sent.body, sent.content) AS words
  FROM tasks AS other
  JOIN deliveries AS sent ON sent.task_id = other.id
 WHERE other.session_id = :session AND sent.id <> :id AND sent.status = 'sent'
   AND sent.channel = :channel AND sent.recipient IS NOT DISTINCT FROM :recipient
   AND sent.receipt IS NOT NULL
 ORDER BY sent.sent_at, sent.id
 LIMIT 1;

-- name: list_deliveries_of_tasks
SELECT * FROM deliveries
 WHERE task_id IN (SELECT value FROM json_each(:tasks))
 ORDER BY task_id, n, part;
