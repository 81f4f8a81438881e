DELETE FROM subscriptions WHERE id = :id;
