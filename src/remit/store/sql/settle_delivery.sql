-- Only the leg that still holds the lease may settle what it claimed.
UPDATE deliveries
   SET status = :to, reason = :why, receipt = COALESCE(:receipt, receipt),
       sent_at = CASE WHEN :to = 'sent' THEN :now END,
       doubted_at = CASE WHEN :to = 'unknown' THEN :now END
 WHERE id = :id AND status = 'sending'
   AND EXISTS (SELECT 1 FROM tasks WHERE id = :task AND lease = :lease AND worker IS NOT NULL);
