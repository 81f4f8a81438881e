UPDATE conversations SET deleted_at = :now WHERE id = :id AND deleted_at IS NULL;
