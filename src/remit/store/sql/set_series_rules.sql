UPDATE series
   SET missed = COALESCE(:missed, missed), overlap = COALESCE(:overlap, overlap)
 WHERE id = :id AND ended_at IS NULL;
