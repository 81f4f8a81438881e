SELECT reviews.*,
       (SELECT data FROM events
         WHERE task_id = reviews.task_id AND kind = 'review.opened'
           AND data ->> '$.review' = reviews.id) AS opened
  FROM reviews WHERE id > :after ORDER BY id LIMIT :limit;
