-- A delivery that was sent must have been told as accepted, or the owner said that it arrived.
SELECT deliveries.id, deliveries.status, told.answer AS told
  FROM deliveries
  LEFT JOIN (
    SELECT data ->> '$.delivery' AS id, data ->> '$.answer' AS answer, MAX(seq)
      FROM events WHERE kind = 'delivery.settled' GROUP BY 1
  ) AS told ON told.id = deliveries.id
 WHERE (deliveries.status = 'sent' AND told.answer NOT IN ('accepted', 'unknown'))
    OR (deliveries.status = 'sent' AND told.answer IS NULL)
    OR (deliveries.status = 'pending' AND told.answer = 'accepted');
