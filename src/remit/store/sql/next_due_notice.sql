SELECT MIN(due_at) AS at FROM notices WHERE due_at IS NOT NULL;
