-- Starts to come that were dropped as if their time had passed.
SELECT * FROM occurrences
 WHERE state = 'dropped' AND start_at > :now
   AND why IN (SELECT value FROM json_each(:why));
