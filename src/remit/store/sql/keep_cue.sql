-- What a channel has kept before it was looked at as a cue is taken up where it stands.
INSERT INTO inbound (ref, channel, sender, said_at, heard_at, body, fate, why)
VALUES (:ref, :door, :sender, :said, :heard, :body, :fate, :why)
ON CONFLICT (ref) DO UPDATE SET fate = excluded.fate, why = excluded.why
 WHERE fate IS NULL;
