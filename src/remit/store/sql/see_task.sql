-- The owner has looked at how it ended. Nothing happened to the task itself.
UPDATE tasks SET seen_at = COALESCE(seen_at, :now) WHERE id = :id AND completed_at IS NOT NULL;
