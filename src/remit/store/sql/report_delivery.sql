-- Kept until the send itself is settled: a report may be quicker than the answer it is about.
UPDATE deliveries SET reported = :reported
 WHERE id = :id AND status <> 'sent' AND status <> 'refused';
