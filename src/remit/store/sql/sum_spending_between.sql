SELECT COALESCE(SUM(tokens), 0) AS tokens, COALESCE(SUM(cents), 0) AS cents,
       COALESCE(SUM(requests), 0) AS requests
  FROM spending WHERE at >= :since AND at < :until;
