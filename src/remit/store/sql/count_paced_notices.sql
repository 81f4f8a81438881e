SELECT COUNT(*) AS n, MAX(claimed_at) AS last FROM notices
 WHERE way = :way AND kind = :kind AND claimed_at > :since;
