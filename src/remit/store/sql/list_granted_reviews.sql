-- Every open question that waits for one thing.
SELECT * FROM reviews INDEXED BY reviews_open
 WHERE decided_at IS NULL AND reason = :reason AND about IS :about ORDER BY opened_at;
