-- name: list_calendars
SELECT calendars.*,
       (SELECT COUNT(*) FROM resources
         WHERE account = calendars.account AND calendar = calendars.path) AS resources,
       (SELECT COUNT(*) FROM resources
         WHERE account = calendars.account AND calendar = calendars.path AND why IS NOT NULL)
         AS refused
  FROM calendars ORDER BY account, name, path;

-- name: put_calendar
INSERT INTO calendars (account, path, name, marked, trusted)
VALUES (:account, :path, :name, :marked, :trusted)
ON CONFLICT (account, path) DO UPDATE
   SET name = excluded.name, marked = excluded.marked, trusted = excluded.trusted;

-- name: record_calendar_read
-- What was read and when; without a token only that it could not be read.
UPDATE calendars
   SET token = COALESCE(:token, token), looked_at = COALESCE(:looked, looked_at), why = :why
 WHERE account = :account AND path = :path;

-- name: list_etags
SELECT path, etag, uid FROM resources WHERE account = :account AND calendar = :calendar;

-- name: get_resource
SELECT * FROM resources WHERE account = :account AND calendar = :calendar AND path = :path;

-- name: find_resource_by_uid
-- Which of several resources with one uid counts: what the owner trusts, then what came first.
SELECT resources.* FROM resources INDEXED BY resources_by_uid
  LEFT JOIN calendars ON calendars.account = resources.account AND calendars.path = calendar
 WHERE uid = :uid ORDER BY COALESCE(trusted, 0) DESC, no LIMIT 1;

-- name: list_resources_to_extend
-- Those whose starts are not known far enough ahead any more.
SELECT * FROM resources INDEXED BY resources_by_end
 WHERE until_at < :until ORDER BY until_at LIMIT :limit;

-- name: list_refused_resources
SELECT * FROM resources WHERE why IS NOT NULL ORDER BY account, calendar, path LIMIT :limit;

-- name: count_unseen_resources
SELECT COUNT(*) AS n FROM resources INDEXED BY resources_refused
 WHERE why IS NOT NULL AND seen_etag IS DISTINCT FROM etag;

-- name: mark_resource_seen
UPDATE resources SET seen_etag = etag
 WHERE account = :account AND calendar = :calendar AND path = :path AND why IS NOT NULL;

-- name: put_resource
INSERT INTO resources (account, calendar, path, etag, uid, body, until_at, why)
VALUES (:account, :calendar, :path, :etag, :uid, :body, :until, :why)
ON CONFLICT (account, calendar, path) DO UPDATE
   SET etag = excluded.etag, uid = excluded.uid, body = excluded.body,
       until_at = excluded.until_at, why = excluded.why;

-- name: delete_resource
DELETE FROM resources WHERE account = :account AND calendar = :calendar AND path = :path;

-- name: get_mirrored
SELECT * FROM mirrored WHERE task_id = :task;

-- name: list_old_mirrored
SELECT mirrored.* FROM mirrored JOIN tasks ON tasks.id = mirrored.task_id
 WHERE mirrored.etag <> '' AND tasks.completed_at < :before LIMIT :limit;

-- name: put_mirrored
INSERT INTO mirrored (task_id, etag, digest) VALUES (:task, :etag, :digest)
ON CONFLICT (task_id) DO UPDATE SET etag = excluded.etag, digest = excluded.digest;
