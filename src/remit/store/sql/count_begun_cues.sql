-- How many of one door were begun since a moment; of one sender, if one is named.
SELECT COUNT(*) AS cues FROM inbound
 WHERE channel = :door AND fate IN ('waiting', 'started', 'talked') AND heard_at >= :since
   AND (:sender IS NULL OR sender = :sender);
