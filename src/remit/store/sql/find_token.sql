SELECT * FROM tokens
WHERE hash = :hash AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now);
