-- What went wrong last on a channel, among the newest that it was given.
SELECT reason FROM (
  SELECT task_id, status, reason FROM deliveries
   WHERE channel = :channel AND channel <> 'dashboard' ORDER BY task_id DESC LIMIT 200)
 WHERE reason IS NOT NULL AND status IN ('refused', 'unknown', 'pending') LIMIT 1;
