UPDATE deliveries
   SET status = 'sending', body = :body, body_sha256 = :digest, reason = NULL, address = :address
 WHERE id = :id AND status = 'pending';
