-- A key that is known stays as it is; one that is too old to count is taken anew.
INSERT INTO idempotency (caller, key, digest, status, body, created_at)
VALUES (:caller, :key, :digest, 0, :ref, :now)
ON CONFLICT (caller, key) DO UPDATE
   SET digest = :digest, status = 0, body = :ref, created_at = :now
 WHERE created_at <= :expired;
