DELETE FROM subscriptions WHERE id = :id AND failures >= :most;
