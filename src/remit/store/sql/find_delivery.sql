-- By the key that went out with it, or else by the provider's own name for it.
SELECT * FROM deliveries
 WHERE id = COALESCE(:key, (SELECT id FROM deliveries WHERE receipt = :ref LIMIT 1));
