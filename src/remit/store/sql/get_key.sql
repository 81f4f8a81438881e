SELECT digest, status, body FROM idempotency WHERE caller = :caller AND key = :key;
