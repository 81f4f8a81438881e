SELECT mirrored.* FROM mirrored JOIN tasks ON tasks.id = mirrored.task_id
 WHERE mirrored.etag <> '' AND tasks.completed_at < :before LIMIT :limit;
