UPDATE deliveries SET status = 'unknown', reason = :why WHERE status = 'sending';
