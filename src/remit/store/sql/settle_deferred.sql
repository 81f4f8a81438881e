UPDATE deferred SET settled_at = :now, finding = :finding
 WHERE task_id = :task AND place = :place AND settled_at IS NULL;
