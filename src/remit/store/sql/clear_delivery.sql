-- A doubt is settled by what its channel found out or was told.
UPDATE deliveries
   SET status = :to, reason = :why, receipt = COALESCE(:receipt, receipt), doubted_at = NULL,
       sent_at = CASE WHEN :to = 'sent' THEN :now END
 WHERE id = :id AND (status = 'unknown' OR status = 'pending');
