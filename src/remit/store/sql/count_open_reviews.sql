SELECT COUNT(*) AS reviews FROM (SELECT 1 FROM reviews WHERE decided_at IS NULL LIMIT :most);
