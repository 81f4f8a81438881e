UPDATE deliveries SET status = 'unknown', reason = :why WHERE id = :id AND status = 'sending';
