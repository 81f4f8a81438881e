-- Where tasks ended, between two places of the journal.
SELECT * FROM events
 WHERE seq > :since AND seq <= :until AND kind = 'task.moved'
   AND data ->> '$.to' IN ('completed', 'failed', 'cancelled')
 ORDER BY seq;
