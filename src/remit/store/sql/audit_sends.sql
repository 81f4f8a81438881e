-- Everything that decides where the deliveries of some tasks stand, in the order it happened.
SELECT events.seq, events.kind, events.data, reviews.about
  FROM events
  LEFT JOIN reviews ON events.kind = 'review.decided' AND reviews.id = events.data ->> '$.review'
 WHERE events.task_id IN (SELECT value FROM json_each(:tasks))
   AND events.kind IN ('delivery.claimed', 'delivery.settled', 'review.decided')
 ORDER BY events.seq;
