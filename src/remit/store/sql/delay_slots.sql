-- What is overdue with many others begins a little later; what was asked about or held waits anyway.
UPDATE tasks SET due_at = :due_at
 WHERE series_id = :series AND slot_at = :slot AND status = 'ready' AND worker IS NULL
   AND started_at IS NULL AND due_at <= :due_at;
