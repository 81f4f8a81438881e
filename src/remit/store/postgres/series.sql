-- name: list_due_series
SELECT * FROM series WHERE due_at <= remit_now(:now) ORDER BY due_at LIMIT :limit;

-- name: next_due_series
SELECT due_at FROM series WHERE due_at > remit_now(:now) ORDER BY due_at LIMIT 1;
