-- name: insert_token
INSERT INTO tokens (id, name, agent, scopes, hash, created_at, expires_at)
VALUES (:id, :name, :agent, :scopes, :hash, :now, :expires_at)
ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING;

-- name: list_tokens
SELECT * FROM tokens WHERE revoked_at IS NULL ORDER BY id;

-- name: find_token
SELECT * FROM tokens
WHERE hash = :hash AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now);

-- name: revoke_token
UPDATE tokens SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL;

-- name: get_token
SELECT * FROM tokens WHERE id = :id;

-- name: touch_token
UPDATE tokens SET used_at = :now WHERE id = :id;

-- name: delete_expired_codes
DELETE FROM sign_in_codes WHERE expires_at <= :now;

-- name: insert_code
INSERT INTO sign_in_codes (hash, expires_at) VALUES (:hash, :expires_at);

-- name: delete_valid_code
DELETE FROM sign_in_codes WHERE hash = :hash AND expires_at > :now;

-- name: insert_sign_in
INSERT INTO sign_ins (id, hash, created_at, used_at, expires_at)
VALUES (:id, :hash, :now, :now, :expires_at);

-- name: list_sign_ins
SELECT * FROM sign_ins WHERE ended_at IS NULL AND expires_at > :now ORDER BY id;

-- name: find_sign_in
SELECT * FROM sign_ins WHERE hash = :hash AND ended_at IS NULL AND expires_at > :now;

-- name: end_sign_in
UPDATE sign_ins SET ended_at = :now WHERE id = :id AND ended_at IS NULL;

-- name: touch_sign_in
UPDATE sign_ins SET used_at = :now WHERE id = :id;

-- name: reserve_key
-- A key that is known stays as it is, also one that looks old: the clock may be ahead. Only another
-- request may take an old one anew.
INSERT INTO idempotency (caller, key, digest, status, body, created_at)
VALUES (:caller, :key, :digest, 0, :ref, :now)
ON CONFLICT (caller, key) DO UPDATE
   SET digest = :digest, status = 0, body = :ref, created_at = :now
 WHERE idempotency.created_at <= :expired AND idempotency.digest <> :digest;

-- name: get_key
SELECT digest, status, body FROM idempotency WHERE caller = :caller AND key = :key;

-- name: answer_key
UPDATE idempotency SET status = :status, body = :body WHERE caller = :caller AND key = :key;

-- name: release_key
DELETE FROM idempotency WHERE caller = :caller AND key = :key AND status = 0;

-- name: delete_expired_keys
-- Not by a clock that is ahead: the last ones of each caller are kept.
DELETE FROM idempotency
 WHERE (caller, key) IN (
   SELECT caller, key
     FROM (SELECT caller, key, created_at,
                  ROW_NUMBER() OVER (PARTITION BY caller ORDER BY created_at DESC) AS place
             FROM idempotency) AS placed
    WHERE created_at <= :expired AND place > :kept);

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
