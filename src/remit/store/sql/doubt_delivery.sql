UPDATE deliveries SET status = 'unknown', reason = :why, doubted_at = :now WHERE id = :id AND status = 'sending';
