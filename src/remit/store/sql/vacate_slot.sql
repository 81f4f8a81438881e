-- A task that was ended before it began leaves its place to the one that comes instead.
UPDATE tasks SET slot_at = NULL WHERE id = :id AND status = 'cancelled' AND started_at IS NULL;
