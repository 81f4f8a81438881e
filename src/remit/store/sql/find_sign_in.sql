SELECT * FROM sign_ins WHERE hash = :hash AND ended_at IS NULL AND expires_at > :now;
