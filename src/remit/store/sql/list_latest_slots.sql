SELECT slot_at FROM tasks INDEXED BY tasks_by_slot
 WHERE series_id = :series AND slot_at < :until ORDER BY slot_at DESC LIMIT :limit;
