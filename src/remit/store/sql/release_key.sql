DELETE FROM idempotency WHERE caller = :caller AND key = :key AND status = 0;
