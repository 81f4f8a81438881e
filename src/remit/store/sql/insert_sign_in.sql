INSERT INTO sign_ins (id, hash, created_at, used_at, expires_at)
VALUES (:id, :hash, :now, :now, :expires_at);
