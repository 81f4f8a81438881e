-- A task becomes the first occurrence of a series.
UPDATE tasks SET series_id = :series, slot_at = :slot WHERE id = :id;
