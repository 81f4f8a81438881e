SELECT due_at FROM series WHERE due_at > :now ORDER BY due_at LIMIT 1;
