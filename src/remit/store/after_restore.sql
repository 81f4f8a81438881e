-- name: hold_due_slots
-- The owner restored a backup: an occurrence that was due by now may have run. It is asked about.
UPDATE tasks SET due_at = NULL
 WHERE slot_at IS NOT NULL AND started_at IS NULL AND worker IS NULL
   AND ((status = 'ready' AND due_at <= :now) OR (status = 'new' AND scheduled_for <= :now))
   AND NOT EXISTS (SELECT 1 FROM reviews WHERE task_id = tasks.id AND decided_at IS NULL)
RETURNING id;

-- name: doubt_all_sends
UPDATE deliveries SET status = 'unknown', reason = :why, doubted_at = :now WHERE status = 'sending';

-- name: revoke_all_tokens
UPDATE tokens SET revoked_at = :now WHERE revoked_at IS NULL;

-- name: end_all_sign_ins
UPDATE sign_ins SET ended_at = :now WHERE ended_at IS NULL;

-- name: pause_due_tasks
-- The owner restored a backup: whatever may have been done since waits for a word.
UPDATE tasks
   SET resume_to = status, status = 'paused', due_at = NULL, wish = NULL,
       worker = NULL, run_id = NULL, leg_at = NULL, lease = lease + 1,
       events = events + 1, updated_at = :now
 WHERE status IN ('running', 'verifying', 'delivering')
    OR (status = 'ready' AND due_at <= :now)
    OR (status = 'new' AND COALESCE(scheduled_for, 0) <= :now
        AND NOT EXISTS (SELECT 1 FROM reviews
             WHERE task_id = tasks.id AND decided_at IS NULL AND about = 'restored'))
RETURNING id, resume_to, events;
