-- Gives events that wait in `unsealed` their places and hashes in `events`; returns how many. One statement of a client
-- does all of it: neither a busy nor a halted process keeps others from sealing. `model/run.py` says how events are hashed.
CREATE FUNCTION seal_events(most BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
  place  BIGINT;
  link   BYTEA;
  each   RECORD;
  sealed BIGINT := 0;
BEGIN
  IF NOT EXISTS (SELECT FROM unsealed) THEN
    RETURN 0;
  END IF;
  PERFORM pg_advisory_xact_lock(1397047628);
  SELECT seq, hash INTO place, link FROM events ORDER BY seq DESC LIMIT 1;
  IF NOT FOUND THEN
    place := 0;
    link := decode(repeat('00', 32), 'hex');
  END IF;
  FOR each IN
    WITH taken AS (
      DELETE FROM unsealed WHERE id IN (SELECT id FROM unsealed ORDER BY id LIMIT most) RETURNING *)
    SELECT * FROM taken ORDER BY id
  LOOP
    place := place + 1;
    sealed := sealed + 1;
    link := sha256(link || convert_to(
      concat_ws(E'\x1f', place, COALESCE(each.task_id, 'None'), each.n, each.kind, each.actor, each.at, each.data),
      'UTF8'));
    INSERT INTO events (seq, task_id, n, kind, actor, at, data, hash)
    VALUES (place, each.task_id, each.n, each.kind, each.actor, each.at, each.data, link);
  END LOOP;
  IF sealed > 0 THEN
    PERFORM pg_notify('remit_journal', place::TEXT);
  END IF;
  RETURN sealed;
END $$;
