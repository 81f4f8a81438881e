INSERT INTO conversations (id, title, created_at, origin) VALUES (:id, :title, :now, :origin);
