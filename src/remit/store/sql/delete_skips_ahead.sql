DELETE FROM skips WHERE series_id = :series AND at > :ahead;
