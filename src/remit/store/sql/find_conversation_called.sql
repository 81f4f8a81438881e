SELECT * FROM conversations WHERE title = :title AND deleted_at IS NULL ORDER BY created_at, id LIMIT 1;
