-- What the owner said about the work of a session, newest first; not what he said of the request.
SELECT reviews.answer, reviews.answer_text, reviews.question, tasks.taint
  FROM tasks CROSS JOIN reviews ON reviews.task_id = tasks.id
 WHERE tasks.session_id = :session AND tasks.id <> :task AND reviews.resume_to <> 'new'
   AND (reviews.answer = 'back' OR reviews.answer = 'answer' OR
        reviews.answer = 'edit' AND tasks.taint = 'owner' AND COALESCE(reviews.about, '') NOT GLOB 'call:*')
   AND reviews.answer_text IS NOT NULL
 ORDER BY tasks.no DESC
 LIMIT :limit;
