UPDATE subscriptions SET last_ok = :now, failures = 0 WHERE id = :id;
