-- What came in by the doors, newest first.
SELECT * FROM inbound WHERE fate IS NOT NULL ORDER BY heard_at DESC, ref LIMIT :most;
