SELECT * FROM tokens WHERE revoked_at IS NULL ORDER BY id;
