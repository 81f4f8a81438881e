-- What the tasks have used since a moment that one door has started.
SELECT COALESCE(SUM(tokens), 0) AS tokens, COALESCE(SUM(cents), 0) AS cents
  FROM spending
 WHERE at >= :since
   AND task_id IN (SELECT task_id FROM inbound
                    WHERE channel = :door AND fate = 'started' AND task_id IS NOT NULL);
