-- name: list_task_ends
-- Where tasks ended, between two places of the journal.
SELECT * FROM events
 WHERE seq > :since AND seq <= :until AND kind = 'task.moved'
   AND data ->> 'to' IN ('completed', 'failed', 'cancelled')
 ORDER BY seq;

-- name: list_lesson_reviews
-- Lessons that wait for a word, that were not wanted of late, or that were taken back of late. What
-- was taken, and holds, stands in its file.
SELECT about, evidence FROM reviews
 WHERE about >= 'lesson:' AND about < 'lesson;'
   AND (decided_at IS NULL OR (answer IN ('drop', 'decline') AND decided_at >= :since)
        OR task_id || substr(about, 7) IN (
             SELECT taken.key FROM rule_versions AS back JOIN rule_versions AS taken
                 ON taken.no = back.reverts
              WHERE back.made_at >= :since));

-- name: insert_rule_version
INSERT INTO rule_versions (key, file, was, digest, why, by, task_id, reverts, made_at)
VALUES (:key, :file, :was, :digest, :why, :by, :task, :reverts, :now)
ON CONFLICT (key) DO NOTHING;

-- name: get_rule_version
SELECT no FROM rule_versions WHERE key = :key;

-- name: list_rule_versions
SELECT * FROM rule_versions ORDER BY no;
