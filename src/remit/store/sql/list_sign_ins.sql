SELECT * FROM sign_ins WHERE ended_at IS NULL AND expires_at > :now ORDER BY id;
