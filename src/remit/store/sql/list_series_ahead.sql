-- Series that went on by a clock that was ahead, and the last slot that they had reached before.
SELECT series.*, MAX(CASE WHEN tasks.created_at <= :ahead THEN slot_at END) AS reached
  FROM series JOIN tasks ON tasks.series_id = series.id
 WHERE series.created_at <= :ahead AND slot_at IS NOT NULL
   AND (ended_at IS NULL OR (ended_at > :ahead AND why = 'its rule names no further time'))
 GROUP BY series.id
HAVING reached IS NOT NULL AND (reached < last_at OR ended_at IS NOT NULL);
