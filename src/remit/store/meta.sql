-- name: get_meta
SELECT value FROM meta WHERE key = :key;

-- name: set_meta
INSERT INTO meta (key, value) VALUES (:key, :value)
ON CONFLICT (key) DO UPDATE SET value = :value;

-- name: delete_meta
DELETE FROM meta WHERE key = :key;

-- name: list_meta
SELECT key, value FROM meta WHERE key >= :begin AND key < :end ORDER BY key;
