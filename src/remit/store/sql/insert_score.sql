-- Who came first is right: a task that was ranked by it is not explained by another.
INSERT INTO scores (digest, score, why, at) VALUES (:digest, :score, :why, :now)
ON CONFLICT (digest) DO NOTHING;
