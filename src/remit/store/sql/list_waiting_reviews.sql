-- Open questions for some reasons, oldest first: those that are put off, or the others.
SELECT * FROM reviews INDEXED BY reviews_open
 WHERE decided_at IS NULL AND (opened_at, id) > (:opened_at, :after)
   AND (COALESCE(later_until, 0) > :now) = :later
   AND reason IN (SELECT value FROM json_each(:reasons))
 ORDER BY opened_at, id LIMIT :limit;
