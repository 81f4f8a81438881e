-- Which task a message is about, by its key, and to whom it goes: a delivery, or a notice that goes alone.
SELECT task_id, recipient FROM deliveries WHERE id = :id
 UNION ALL
SELECT task_id, NULL FROM notices
 WHERE id = :id AND task_id IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM notices AS more WHERE more.parcel = :id AND more.id <> :id);
