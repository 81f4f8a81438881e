-- The words of the first message that a person was sent in a session by a channel.
SELECT COALESCE(sent.body, sent.content) AS words
  FROM tasks AS other
  JOIN deliveries AS sent ON sent.task_id = other.id
 WHERE other.session_id = :session AND sent.id <> :id AND sent.status = 'sent'
   AND sent.channel = :channel AND sent.recipient IS :recipient
   AND sent.receipt IS NOT NULL
 ORDER BY sent.sent_at, sent.id
 LIMIT 1;
