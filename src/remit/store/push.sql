-- name: delete_expired_subscriptions
-- Of sign-ins that ran out.
DELETE FROM subscriptions
WHERE sign_in_id IN (SELECT id FROM sign_ins WHERE ended_at IS NOT NULL OR expires_at <= :now);

-- name: count_subscriptions
SELECT count(*) AS n FROM subscriptions WHERE id <> :id;

-- name: put_subscription
INSERT INTO subscriptions (id, endpoint, p256dh, auth, sign_in_id, created_at)
VALUES (:id, :endpoint, :p256dh, :auth, :sign_in, :now)
ON CONFLICT (id) DO UPDATE SET
  p256dh = excluded.p256dh,
  auth = excluded.auth,
  sign_in_id = excluded.sign_in_id,
  created_at = excluded.created_at,
  failures = 0;

-- name: list_subscriptions
-- The sign-in decides: one that has ended or run out is told nothing.
SELECT each.* FROM subscriptions AS each
CROSS JOIN sign_ins AS one
WHERE one.id = each.sign_in_id AND one.ended_at IS NULL AND one.expires_at > :now
ORDER BY each.id;

-- name: get_subscription
SELECT each.* FROM subscriptions AS each
CROSS JOIN sign_ins AS one
WHERE one.id = each.sign_in_id AND each.id = :id AND one.ended_at IS NULL AND one.expires_at > :now;

-- name: list_sign_in_subscriptions
SELECT * FROM subscriptions WHERE sign_in_id = :sign_in ORDER BY id;

-- name: delete_subscription
DELETE FROM subscriptions WHERE id = :id;

-- name: delete_sign_in_subscriptions
DELETE FROM subscriptions WHERE sign_in_id = :sign_in;

-- name: record_push_success
UPDATE subscriptions SET last_ok = :now, failures = 0 WHERE id = :id;

-- name: record_push_failure
UPDATE subscriptions SET failures = failures + 1 WHERE id = :id;

-- name: delete_failing_subscription
DELETE FROM subscriptions WHERE id = :id AND failures >= :most;
