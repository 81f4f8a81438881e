-- Whatever was let go there counts: what may have arrived since, and what is on its way.
SELECT count(*) AS sent FROM deliveries
 WHERE channel = :channel AND address = :address AND address IS NOT NULL AND id <> :id
   AND (sent_at >= :since OR doubted_at >= :since
        OR ((status = 'sending' OR status = 'pending') AND NOT EXISTS (
              SELECT 1 FROM tasks WHERE tasks.id = task_id
                 AND (tasks.status = 'failed' OR tasks.status = 'cancelled'))));
