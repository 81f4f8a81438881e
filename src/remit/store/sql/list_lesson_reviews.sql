-- Lessons that wait for a word, that were not wanted of late, or that were taken back of late. What
-- was taken, and holds, stands in its file.
SELECT about, evidence FROM reviews
 WHERE about >= 'lesson:' AND about < 'lesson;'
   AND (decided_at IS NULL OR (answer IN ('drop', 'decline') AND decided_at >= :since)
        OR task_id || substr(about, 7) IN (
             SELECT taken.key FROM rule_versions AS back JOIN rule_versions AS taken
                 ON taken.no = back.reverts
              WHERE back.made_at >= :since));
