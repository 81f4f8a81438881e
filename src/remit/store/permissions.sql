-- name: put_permission
INSERT INTO permissions (contact, channel, address, policy, given_at)
VALUES (:contact, :channel, :address, :policy, :now)
ON CONFLICT (contact, channel) DO UPDATE
   SET address = :address, policy = :policy, given_at = :now;

-- name: list_permissions
SELECT contact, channel, address, policy, given_at FROM permissions ORDER BY contact, channel;

-- name: list_channel_permissions
SELECT contact, channel, address, policy, given_at FROM permissions WHERE channel = :channel;

-- name: count_sent
-- Whatever was let go there counts: what may have arrived since, and what is on its way.
SELECT count(*) AS sent FROM deliveries
 WHERE channel = :channel AND address = :address AND address IS NOT NULL AND id <> :id
   AND (sent_at >= :since OR doubted_at >= :since
        OR ((status = 'sending' OR status = 'pending') AND NOT EXISTS (
              SELECT 1 FROM tasks WHERE tasks.id = task_id
                 AND (tasks.status = 'failed' OR tasks.status = 'cancelled'))));
