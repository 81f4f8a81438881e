-- name: list_due_notices
SELECT * FROM notices WHERE due_at <= remit_now(:now) ORDER BY due_at, no LIMIT :limit;
