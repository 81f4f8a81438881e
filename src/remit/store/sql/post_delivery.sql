UPDATE deliveries
   SET status = 'sent', body = :body, body_sha256 = :digest, receipt = 'dashboard', sent_at = :now
 WHERE id = :id AND status = 'pending';
