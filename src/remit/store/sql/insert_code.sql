INSERT INTO sign_in_codes (hash, expires_at) VALUES (:hash, :expires_at);
