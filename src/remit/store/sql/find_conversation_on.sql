SELECT * FROM conversations WHERE deleted_at IS NULL AND channel = :channel
 ORDER BY updated_at DESC, id DESC LIMIT 1;
