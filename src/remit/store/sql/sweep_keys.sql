DELETE FROM idempotency WHERE created_at <= :expired;
