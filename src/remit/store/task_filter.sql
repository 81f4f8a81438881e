-- name: count_views
SELECT COUNT(*) AS n FROM views WHERE name <> :name;

-- name: insert_view
INSERT INTO views (name, filter, created_at) VALUES (:name, :filter, :now)
ON CONFLICT (name) DO UPDATE SET filter = excluded.filter;

-- name: list_views
SELECT * FROM views ORDER BY name;

-- name: delete_view
DELETE FROM views WHERE name = :name;
