DELETE FROM sign_in_codes WHERE expires_at <= :now;
