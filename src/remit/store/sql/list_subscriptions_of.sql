SELECT * FROM subscriptions WHERE sign_in_id = :sign_in ORDER BY id;
