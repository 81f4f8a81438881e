-- The owner settles a doubt that no machine may settle; what was reported before is answered by it.
UPDATE deliveries
   SET status = :to, reason = :why, doubted_at = NULL, reported = NULL,
       sent_at = CASE WHEN :to = 'sent' THEN :now END
 WHERE id = :id AND status = 'unknown';
