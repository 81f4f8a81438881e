INSERT INTO views (name, filter, created_at) VALUES (:name, :filter, :now)
ON CONFLICT (name) DO UPDATE SET filter = excluded.filter;
