SELECT * FROM skips WHERE series_id = :series ORDER BY from_at DESC LIMIT :limit;
