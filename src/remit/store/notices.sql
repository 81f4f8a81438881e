-- name: find_notice_about
SELECT kind FROM notices WHERE about = :about AND way = :way;

-- name: put_notice
-- What was told over a way is not told again, whatever says it.
INSERT INTO notices (
  id, seq, about, kind, way, task_id, title, line, href, state, made_at, due_at, held, told_at
) VALUES (
  :id, :seq, :about, :kind, :way, :task, :title, :line, :href, :state, :made, :due, :held, :told
)
ON CONFLICT DO NOTHING;

-- name: list_due_notices
SELECT * FROM notices WHERE due_at <= :now ORDER BY due_at, no LIMIT :limit;

-- name: next_due_notice
SELECT MIN(due_at) AS at FROM notices WHERE due_at IS NOT NULL;

-- name: drop_notice
UPDATE notices SET state = 'dropped', due_at = NULL, why = :why WHERE id = :id AND state = 'new';

-- name: hold_notice
UPDATE notices SET due_at = :due, held = 1 WHERE id = :id AND state = 'new';

-- name: claim_notice
UPDATE notices
   SET state = 'claimed', claimed_at = :now, due_at = NULL, parcel = :parcel, channel = :channel,
       attempts = attempts + 1, body = CASE id WHEN :parcel THEN :body END, sha256 = :digest,
       why = NULL
 WHERE id = :id AND state = 'new';

-- name: settle_notices
-- What came of a message, for every notice in it. A doubt is looked into at `due`, if ever.
UPDATE notices
   SET state = :state, due_at = :due, why = :why, receipt = :receipt,
       told_at = CASE WHEN :state = 'sent' THEN CAST(:now AS BIGINT) END,
       body = CASE WHEN :state = 'unknown' THEN body END
 WHERE parcel = :parcel AND (state = 'claimed' OR state = 'unknown');

-- name: release_notices
-- It never left. What waited only for its turn has used up no try.
UPDATE notices
   SET state = 'new', due_at = :due, why = :why, parcel = NULL, body = NULL, sha256 = NULL,
       claimed_at = NULL, attempts = attempts - :back
 WHERE parcel = :parcel AND (state = 'claimed' OR state = 'unknown');

-- name: doubt_claimed_notices
UPDATE notices SET state = 'unknown', due_at = :now, why = :why WHERE state = 'claimed';

-- name: doubt_all_notices
UPDATE notices
   SET state = CASE state WHEN 'new' THEN 'dropped' ELSE 'unknown' END, due_at = NULL, why = :why
 WHERE state = 'new' OR state = 'claimed';

-- name: list_parcel_notices
SELECT * FROM notices WHERE parcel = :parcel ORDER BY no;

-- name: count_paced_notices
SELECT COUNT(*) AS n, MAX(claimed_at) AS last FROM notices
 WHERE way = :way AND kind = :kind AND claimed_at > :since;

-- name: find_notice
-- By the key that went out with it, or else by the provider's own name for it; on one channel alone.
SELECT * FROM notices
 WHERE channel = :channel
   AND id = COALESCE(:key,
       (SELECT id FROM notices WHERE receipt = :ref AND channel = :channel ORDER BY no LIMIT 1));

-- name: list_notice_receipts
-- Only of messages that are about nothing else.
SELECT receipt FROM notices AS one
 WHERE way = :way AND kind = 'question' AND claimed_at > :since
   AND href = :href AND receipt IS NOT NULL AND state = 'sent'
   AND NOT EXISTS (SELECT 1 FROM notices WHERE parcel = one.parcel AND id <> one.id)
 ORDER BY no;

-- name: get_notice
SELECT * FROM notices WHERE id = :id;

-- name: list_notices
-- The newest first; of a task that is deleted nothing is shown.
SELECT notices.* FROM notices LEFT JOIN tasks ON tasks.id = notices.task_id
 WHERE notices.no < :before AND tasks.deleted_at IS NULL
 ORDER BY notices.no DESC LIMIT :limit;

-- name: prune_notices
-- An event of a calendar may be refused for years, and is told once.
DELETE FROM notices
 WHERE made_at < :before AND state <> 'new' AND state <> 'claimed' AND kind <> 'refused';

-- name: report_notice
UPDATE notices
   SET state = :state, due_at = NULL, why = :why, receipt = :receipt, body = NULL,
       told_at = CASE :state WHEN 'sent' THEN COALESCE(told_at, :now) ELSE told_at END
 WHERE id = :id;
