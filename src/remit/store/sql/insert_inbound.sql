-- A provider may say the same for days; it is kept once.
INSERT INTO inbound (ref, channel, sender, said_at, heard_at, body)
VALUES (:ref, :channel, :sender, :said, :heard, :body)
ON CONFLICT (ref) DO NOTHING;
