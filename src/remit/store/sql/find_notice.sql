-- By the key that went out with it, or else by the provider's own name for it; on one channel alone.
SELECT * FROM notices
 WHERE channel = :channel
   AND id = COALESCE(:key,
       (SELECT id FROM notices WHERE receipt = :ref AND channel = :channel ORDER BY no LIMIT 1));
