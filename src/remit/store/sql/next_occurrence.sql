SELECT MIN(start_at) AS at FROM occurrences INDEXED BY occurrences_planned
 WHERE state = 'planned' AND start_at > :now;
