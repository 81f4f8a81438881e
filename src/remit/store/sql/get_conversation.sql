SELECT * FROM conversations WHERE id = :id AND deleted_at IS NULL;
