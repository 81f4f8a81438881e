-- What a person was sent before in a session by a channel, newest first.
SELECT sent.receipt
  FROM tasks AS other
  JOIN deliveries AS sent ON sent.task_id = other.id
 WHERE other.session_id = :session AND sent.id <> :id AND sent.status = 'sent'
   AND sent.channel = :channel AND sent.recipient IS :recipient
   AND sent.receipt IS NOT NULL
 ORDER BY sent.sent_at DESC, sent.id DESC
 LIMIT :limit;
