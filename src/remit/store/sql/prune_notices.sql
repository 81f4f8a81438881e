-- An event of a calendar may be refused for years, and is told once.
DELETE FROM notices
 WHERE made_at < :before AND state <> 'new' AND state <> 'claimed' AND kind <> 'refused';
