-- name: correct_task_times
-- Times that follow from a clock that was ahead: what waited so long from then on, waits from now on.
UPDATE tasks
   SET due_at = CASE status WHEN 'new' THEN :now
                            WHEN 'ready' THEN CASE WHEN scheduled_for > :now THEN scheduled_for
                                               ELSE :now END
                            ELSE CASE WHEN due_at > updated_at THEN :now + due_at - updated_at
                                      ELSE :now END END,
       updated_at = :now
 WHERE due_at > :now AND updated_at > :ahead;

-- name: correct_notice_times
-- No notice is put off for so long.
UPDATE notices SET due_at = :now WHERE due_at > :now + 7 * 86400000;

-- name: correct_review_times
UPDATE reviews SET later_until = :now
 WHERE decided_at IS NULL AND later_until > :now
   AND EXISTS (SELECT 1 FROM tasks WHERE id = reviews.task_id AND updated_at > :ahead);

-- name: correct_calendar_times
UPDATE calendars SET looked_at = :now WHERE looked_at > :ahead;

-- name: correct_resource_times
-- Starts to come that were deleted as old are expanded again.
UPDATE resources SET until_at = :now WHERE until_at > :now;

-- name: correct_inbound_times
-- What was heard counts for an hour or a day, not until a day that is far away.
UPDATE inbound SET heard_at = :now, said_at = CASE WHEN said_at > :now THEN :now ELSE said_at END
 WHERE heard_at > :ahead;

-- name: correct_spending_times
UPDATE spending SET at = :now WHERE at > :ahead;

-- name: correct_delivery_times
UPDATE deliveries
   SET sent_at = CASE WHEN sent_at > :now THEN :now ELSE sent_at END,
       doubted_at = CASE WHEN doubted_at > :now THEN :now ELSE doubted_at END
 WHERE sent_at > :ahead OR doubted_at > :ahead;

-- name: end_future_codes
-- A code is good for minutes.
DELETE FROM sign_in_codes WHERE expires_at > :ahead;

-- name: correct_sign_in_times
UPDATE sign_ins
   SET expires_at = :now + expires_at - created_at, created_at = :now, used_at = :now
 WHERE created_at > :ahead;

-- name: correct_token_times
UPDATE tokens SET expires_at = :now + expires_at - created_at, created_at = :now
 WHERE created_at > :ahead;

-- name: journal_times
-- When the journal began, and the latest time in what was written last.
SELECT (SELECT at FROM events ORDER BY seq LIMIT 1) AS first_at,
       (SELECT MAX(at) FROM (SELECT at FROM events ORDER BY seq DESC LIMIT 2000)) AS last_at;

-- name: list_future_dropped_starts
-- Starts to come that were dropped as if their time had passed.
SELECT * FROM occurrences
 WHERE state = 'dropped' AND start_at > :now
   AND why IN (SELECT value FROM json_each(:why));

-- name: list_future_skipped_slots
-- Occurrences to come that were ended as if their time had passed, not by the owner.
SELECT id, slot_at FROM tasks
 WHERE series_id = :series AND slot_at > :now AND slot_at <= :reached
   AND status = 'cancelled' AND started_at IS NULL AND completed_at > :ahead
   AND result_summary IN (SELECT value FROM json_each(:summaries));

-- name: list_series_with_future_tasks
-- Series that went on by a clock that was ahead, and the last slot that they had reached before.
SELECT series.*, MAX(CASE WHEN tasks.created_at <= :ahead THEN slot_at END) AS reached
  FROM series JOIN tasks ON tasks.series_id = series.id
 WHERE series.created_at <= :ahead AND slot_at IS NOT NULL
   AND (ended_at IS NULL OR (ended_at > :ahead AND why = 'its rule names no further time'))
 GROUP BY series.id
HAVING MAX(CASE WHEN tasks.created_at <= :ahead THEN slot_at END) < last_at
    OR (ended_at IS NOT NULL
        AND MAX(CASE WHEN tasks.created_at <= :ahead THEN slot_at END) IS NOT NULL);

-- name: rewind_series
UPDATE series SET last_at = :reached, due_at = :reached, ended_at = NULL, why = NULL
 WHERE id = :series AND paused_at IS NULL;

-- name: delete_future_skips
-- What the owner left out stays out.
DELETE FROM skips
 WHERE series_id = :series AND at > :ahead AND why IN (SELECT value FROM json_each(:why));
