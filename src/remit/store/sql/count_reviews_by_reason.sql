SELECT reason, COALESCE(later_until, 0) > :now AS later, COUNT(*) AS n
  FROM reviews INDEXED BY reviews_open WHERE decided_at IS NULL GROUP BY 1, 2;
