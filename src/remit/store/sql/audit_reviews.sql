SELECT reviews.*, told.data AS opened
  FROM reviews LEFT JOIN (
    SELECT data, data ->> '$.review' AS review FROM events WHERE kind = 'review.opened'
  ) AS told ON told.review = reviews.id;
