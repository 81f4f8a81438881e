-- What the same person was sent before in the same session by the same channel, newest first.
SELECT sent.receipt
  FROM deliveries AS this
  JOIN tasks AS work ON work.id = this.task_id
  JOIN tasks AS other ON other.session_id = work.session_id
  JOIN deliveries AS sent ON sent.task_id = other.id
 WHERE this.id = :id AND sent.status = 'sent'
   AND sent.channel = this.channel AND sent.recipient IS this.recipient
   AND sent.receipt IS NOT NULL
 ORDER BY sent.sent_at DESC, sent.id DESC
 LIMIT :limit;
