-- Kept until the send itself is settled: a report may be quicker than the answer it is about.
-- That something failed settles nothing while it is to be sent (again), or while two sends are out
-- and nobody knows which of them is meant.
UPDATE deliveries SET reported = :reported
 WHERE id = :id AND status <> 'sent' AND status <> 'refused'
   AND (:arrived OR (reported IS NULL AND status <> 'pending' AND 1 =
     (SELECT COUNT(*) FROM attempts
       WHERE delivery_id = :id AND (answer IS NULL OR answer = 'unknown' OR answer = 'accepted'))));
