SELECT * FROM series WHERE id > :after AND (:ended OR ended_at IS NULL) ORDER BY id LIMIT :limit;
