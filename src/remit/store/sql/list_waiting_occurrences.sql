-- What is planned up to a moment, and whether a later one of the same event is given already.
SELECT planned.*, EXISTS (
         SELECT 1 FROM occurrences AS other INDEXED BY occurrences_given
          WHERE other.uid = planned.uid AND other.state = 'given' AND other.start_at > :now)
         AS ahead
  FROM occurrences AS planned INDEXED BY occurrences_planned
 WHERE state = 'planned' AND start_at <= :until ORDER BY start_at LIMIT :limit;
