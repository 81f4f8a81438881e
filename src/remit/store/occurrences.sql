-- name: list_event_occurrences
SELECT * FROM occurrences WHERE uid = :uid;

-- name: list_waiting_occurrences
-- What is planned up to a moment, and whether a later one of the same event is given already.
SELECT planned.*, EXISTS (
         SELECT 1 FROM occurrences AS other INDEXED BY occurrences_given
          WHERE other.uid = planned.uid AND other.state = 'given' AND other.start_at > :now)
         AS ahead
  FROM occurrences AS planned INDEXED BY occurrences_planned
 WHERE state = 'planned' AND start_at <= :until ORDER BY start_at LIMIT :limit;

-- name: list_coming_occurrences
SELECT * FROM occurrences INDEXED BY occurrences_by_start
 WHERE start_at >= :since AND start_at < :until AND state <> 'dropped'
 ORDER BY start_at LIMIT :limit;

-- name: list_next_starts
-- The next start of each event that has not begun; a bare column is that of the smallest start.
SELECT occurrences.*, MIN(start_at) FROM occurrences INDEXED BY occurrences_by_start
  LEFT JOIN tasks ON state = 'given' AND tasks.id = occurrences.task_id
 WHERE start_at >= :now
   AND (state = 'planned' OR (state = 'given' AND started_at IS NULL AND completed_at IS NULL))
 GROUP BY uid ORDER BY start_at LIMIT :limit;

-- name: list_overdue_starts
-- Starts with a task whose time is past, that has not begun, waits for nobody, and was not put off.
SELECT occurrences.*, scheduled_for FROM tasks INDEXED BY tasks_planned
  JOIN occurrences ON uid = details -> 'context' ->> 'uid' AND task_id = tasks.id
 WHERE scheduled_for < :before AND completed_at IS NULL AND source_kind = 'caldav'
   AND (tasks.status = 'new' OR tasks.status = 'ready') AND worker IS NULL AND started_at IS NULL
   AND state = 'given'
   AND NOT EXISTS (SELECT 1 FROM reviews WHERE task_id = tasks.id AND decided_at IS NULL);

-- name: next_occurrence
SELECT MIN(start_at) AS at FROM occurrences INDEXED BY occurrences_planned
 WHERE state = 'planned' AND start_at > :now;

-- name: insert_event_series
INSERT INTO event_series (uid, series_id, session_id) VALUES (:uid, :series, :session)
ON CONFLICT (uid) DO NOTHING;

-- name: get_event_series
SELECT * FROM event_series WHERE uid = :uid;

-- name: find_slot
SELECT id, source_ref FROM tasks INDEXED BY tasks_by_slot WHERE series_id = :series AND slot_at = :slot;

-- name: give_occurrence
UPDATE occurrences SET state = 'given', task_id = :task
 WHERE uid = :uid AND key = :key AND state = 'planned';

-- name: list_earlier_given_occurrences
-- Those given before a moment, newest first; a few are enough, for each time they are ended.
SELECT * FROM occurrences INDEXED BY occurrences_given
 WHERE uid = :uid AND state = 'given' AND start_at < :start ORDER BY start_at DESC LIMIT 20;

-- name: drop_occurrence
UPDATE occurrences SET state = 'dropped', why = :why WHERE uid = :uid AND key = :key;

-- name: prune_occurrences
-- Not by a clock that is ahead: of a task that ended just now the start is kept.
DELETE FROM occurrences
 WHERE state = 'dropped' AND start_at < :before
   AND NOT EXISTS (SELECT 1 FROM tasks WHERE id = task_id AND updated_at >= :before);

-- name: put_occurrence
INSERT INTO occurrences (
  uid, key, account, calendar, start_at, title, body, taint, state, tries, task_id, why
) VALUES (
  :uid, :key, :account, :calendar, :start, :title, :body, :taint, :state, :tries, :task, :why
)
ON CONFLICT (uid, key) DO UPDATE
   SET account = excluded.account, calendar = excluded.calendar, start_at = excluded.start_at,
       title = excluded.title, body = excluded.body, taint = excluded.taint,
       state = excluded.state, tries = excluded.tries, task_id = excluded.task_id,
       why = excluded.why;
