-- How many came by each door since a moment, by what became of them.
SELECT channel AS door, fate, COUNT(*) AS cues FROM inbound
 WHERE fate IS NOT NULL AND heard_at >= :since GROUP BY channel, fate;
