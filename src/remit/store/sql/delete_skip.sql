-- The owner wants a slot all the same that he had left out.
DELETE FROM skips WHERE series_id = :series AND from_at = :slot AND slots = 1;
