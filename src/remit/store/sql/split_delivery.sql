-- The first part takes the place of the whole, the others stand behind it.
INSERT INTO deliveries (id, task_id, n, part, parts, channel, recipient, content, status, body,
  address)
SELECT :id, task_id, n, :part, :parts, channel, recipient,
       CASE WHEN :part = 0 THEN content END, 'pending', :body, :address
  FROM deliveries WHERE id = :of AND status = 'pending' AND (parts = 1 OR :part > 0)
ON CONFLICT (id) DO UPDATE SET parts = :parts, body = :body, address = :address;
