-- What a task that has not begun will read is less trusted than it was.
UPDATE tasks SET taint = :taint WHERE id = :id;
