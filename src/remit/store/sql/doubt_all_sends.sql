UPDATE deliveries SET status = 'unknown', reason = :why, doubted_at = :now WHERE status = 'sending';
