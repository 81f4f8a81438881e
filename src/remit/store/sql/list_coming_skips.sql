-- Slots to come that the owner does not want.
SELECT from_at FROM skips WHERE series_id = :series AND from_at > :after AND slots = 1;
