SELECT id FROM tasks WHERE id GLOB :prefix ORDER BY id LIMIT 3;
