-- Series whose last occurrence is due, so that the next one must be put in.
SELECT * FROM series WHERE due_at <= :now ORDER BY due_at LIMIT :limit;
