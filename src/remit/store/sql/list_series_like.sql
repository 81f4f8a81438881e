SELECT id FROM series WHERE id GLOB :prefix ORDER BY id LIMIT 3;
