-- name: reserve_key
-- A key that is known stays as it is; one that is too old to count is taken anew.
INSERT INTO idempotency (caller, key, digest, status, body, created_at)
VALUES (:caller, :key, :digest, 0, :ref, :now)
ON CONFLICT (caller, key) DO UPDATE
   SET digest = :digest, status = 0, body = :ref, created_at = :now
 WHERE idempotency.created_at <= :expired;

-- name: get_key
SELECT digest, status, body FROM idempotency WHERE caller = :caller AND key = :key;

-- name: answer_key
UPDATE idempotency SET status = :status, body = :body WHERE caller = :caller AND key = :key;

-- name: release_key
DELETE FROM idempotency WHERE caller = :caller AND key = :key AND status = 0;

-- name: delete_expired_keys
DELETE FROM idempotency WHERE created_at <= :expired;
