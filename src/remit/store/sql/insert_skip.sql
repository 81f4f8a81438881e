-- A slot that was skipped before it came may turn out to be the first of several.
INSERT INTO skips (series_id, from_at, upto_at, slots, why, fate, at)
VALUES (:series, :from_at, :upto_at, :slots, :why, :fate, :now)
ON CONFLICT (series_id, from_at) DO UPDATE
   SET upto_at = MAX(upto_at, excluded.upto_at), slots = MAX(slots, excluded.slots);
