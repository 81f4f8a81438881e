-- Those given before a moment, newest first; a few are enough, for each time they are ended.
SELECT * FROM occurrences INDEXED BY occurrences_given
 WHERE uid = :uid AND state = 'given' AND start_at < :start ORDER BY start_at DESC LIMIT 20;
