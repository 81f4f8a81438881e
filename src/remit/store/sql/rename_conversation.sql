UPDATE conversations SET title = :title WHERE id = :id AND deleted_at IS NULL;
