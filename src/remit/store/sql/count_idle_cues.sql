SELECT COUNT(*) AS cues FROM inbound
 WHERE channel = :door AND fate IN ('ignored', 'over') AND heard_at >= :since;
