DELETE FROM sign_in_codes WHERE hash = :hash AND expires_at > :now;
