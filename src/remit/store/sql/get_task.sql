SELECT * FROM tasks WHERE id = :id;
