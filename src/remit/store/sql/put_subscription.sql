INSERT INTO subscriptions (id, endpoint, p256dh, auth, sign_in_id, created_at)
VALUES (:id, :endpoint, :p256dh, :auth, :sign_in, :now)
ON CONFLICT (id) DO UPDATE SET
  p256dh = excluded.p256dh,
  auth = excluded.auth,
  sign_in_id = excluded.sign_in_id,
  created_at = excluded.created_at,
  failures = 0;
