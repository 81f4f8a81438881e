-- The owner settles a doubt that no machine may settle.
UPDATE deliveries
   SET status = :to, reason = :why, sent_at = CASE WHEN :to = 'sent' THEN :now END
 WHERE id = :id AND status = 'unknown';
