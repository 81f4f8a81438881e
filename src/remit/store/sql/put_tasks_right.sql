-- Times that follow from a clock that was ahead: what waited so long from then on, waits from now on.
UPDATE tasks
   SET due_at = CASE status WHEN 'new' THEN :now
                            WHEN 'ready' THEN MAX(COALESCE(scheduled_for, 0), :now)
                            ELSE :now + MAX(0, due_at - updated_at) END,
       updated_at = :now
 WHERE due_at > :now AND updated_at > :ahead;
