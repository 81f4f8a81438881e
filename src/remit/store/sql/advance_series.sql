-- Put in the next occurrence, once: who expected another last slot was too late.
UPDATE series
   SET last_at = :last_at, due_at = :due_at,
       ended_at = CASE WHEN :due_at IS NULL THEN :now END,
       why = CASE WHEN :due_at IS NULL THEN 'its rule names no further time' END
 WHERE id = :id AND last_at = :was AND due_at IS NOT NULL;
