INSERT INTO skips (series_id, from_at, upto_at, slots, why, at)
VALUES (:series, :from_at, :upto_at, :slots, :why, :now);
