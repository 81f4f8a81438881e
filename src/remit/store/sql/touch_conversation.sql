UPDATE conversations SET updated_at = MAX(updated_at, :now)
 WHERE id = :id AND deleted_at IS NULL
RETURNING (SELECT COALESCE(MAX(n), 0) + 1 FROM turns WHERE conversation_id = :id) AS n;
