-- A question about the request is open: the engine need not look again until it is decided.
UPDATE tasks SET due_at = NULL WHERE id = :id AND status = 'new';
