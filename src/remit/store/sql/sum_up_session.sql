-- The summary only ever goes further: who is late changes nothing.
INSERT INTO sessions (id, summary, upto_at, upto, runs, since, taint, highest)
VALUES (:id, :summary, :upto_at, :upto, :runs, :since, :taint, :highest)
ON CONFLICT (id) DO UPDATE
   SET summary = :summary, upto_at = :upto_at, upto = :upto, runs = :runs, taint = :taint,
       highest = :highest
 WHERE upto_at < :upto_at OR upto_at = :upto_at AND (upto < :upto OR highest < :highest);
