-- By the key that went out with it, or else by the provider's own name for it; on one channel alone.
SELECT * FROM deliveries
 WHERE channel = :channel
   AND id = COALESCE(:key,
       (SELECT id FROM deliveries WHERE receipt = :ref AND channel = :channel LIMIT 1));
