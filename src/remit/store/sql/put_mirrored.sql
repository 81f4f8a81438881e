INSERT INTO mirrored (task_id, etag, digest) VALUES (:task, :etag, :digest)
ON CONFLICT (task_id) DO UPDATE SET etag = excluded.etag, digest = excluded.digest;
