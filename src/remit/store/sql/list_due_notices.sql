SELECT * FROM notices WHERE due_at <= :now ORDER BY due_at, no LIMIT :limit;
