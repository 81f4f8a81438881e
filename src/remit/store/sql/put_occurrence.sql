INSERT INTO occurrences (
  uid, key, account, calendar, start_at, title, body, taint, state, tries, task_id, why
) VALUES (
  :uid, :key, :account, :calendar, :start, :title, :body, :taint, :state, :tries, :task, :why
)
ON CONFLICT (uid, key) DO UPDATE
   SET account = excluded.account, calendar = excluded.calendar, start_at = excluded.start_at,
       title = excluded.title, body = excluded.body, taint = excluded.taint,
       state = excluded.state, tries = excluded.tries, task_id = excluded.task_id,
       why = excluded.why;
