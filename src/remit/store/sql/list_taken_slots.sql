-- Slots to come that have an occurrence already: a clock that was ahead has put it in.
SELECT slot_at FROM tasks INDEXED BY tasks_by_slot WHERE series_id = :series AND slot_at > :after;
