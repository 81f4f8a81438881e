UPDATE subscriptions SET failures = failures + 1 WHERE id = :id;
