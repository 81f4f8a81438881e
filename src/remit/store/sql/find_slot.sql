SELECT id, source_ref FROM tasks INDEXED BY tasks_by_slot WHERE series_id = :series AND slot_at = :slot;
