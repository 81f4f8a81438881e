INSERT INTO workers (id, started_at, beat_at) VALUES (:id, :now, :now)
ON CONFLICT (id) DO UPDATE SET beat_at = :now;
