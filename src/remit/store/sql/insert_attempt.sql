INSERT INTO attempts (delivery_id, n, lease, body_sha256, claimed_at)
SELECT :id, COUNT(*) + 1, :lease, :digest, :now FROM attempts WHERE delivery_id = :id
RETURNING n;
