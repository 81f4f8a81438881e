SELECT * FROM skips
 WHERE series_id = :series AND upto_at >= :since AND from_at < :until ORDER BY from_at;
