-- name: get_mirrored
SELECT * FROM mirrored WHERE task_id = :task;

-- name: list_old_mirrored
SELECT mirrored.* FROM mirrored JOIN tasks ON tasks.id = mirrored.task_id
 WHERE mirrored.etag <> '' AND tasks.completed_at < :before LIMIT :limit;

-- name: put_mirrored
INSERT INTO mirrored (task_id, etag, digest) VALUES (:task, :etag, :digest)
ON CONFLICT (task_id) DO UPDATE SET etag = excluded.etag, digest = excluded.digest;
