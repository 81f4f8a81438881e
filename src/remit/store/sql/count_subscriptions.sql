SELECT count(*) AS n FROM subscriptions WHERE id <> :id;
