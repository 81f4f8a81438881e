SELECT * FROM reviews WHERE decided_at IS NULL ORDER BY opened_at LIMIT :limit;
