-- What was taken in and never begun, oldest first.
SELECT * FROM inbound WHERE fate = 'waiting' ORDER BY heard_at LIMIT :most;
