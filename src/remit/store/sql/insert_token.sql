INSERT INTO tokens (id, name, agent, scopes, hash, created_at, expires_at)
VALUES (:id, :name, :agent, :scopes, :hash, :now, :expires_at)
ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING;
