UPDATE idempotency SET status = :status, body = :body WHERE caller = :caller AND key = :key;
