-- name: list_due_series
SELECT * FROM series WHERE due_at <= remit_now(:now) ORDER BY due_at LIMIT :limit;
