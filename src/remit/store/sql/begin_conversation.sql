INSERT INTO conversations (id, title, created_at, updated_at, channel)
VALUES (:id, :title, :now, :now, :channel)
ON CONFLICT (id) DO NOTHING;
