-- Of sign-ins that ran out.
DELETE FROM subscriptions
WHERE sign_in_id IN (SELECT id FROM sign_ins WHERE ended_at IS NOT NULL OR expires_at <= :now);
