-- What may be out: whatever was claimed and is not known to have stayed.
SELECT COUNT(*) AS last, MAX(claimed_at) AS last_at,
       COUNT(CASE WHEN answer IS NULL OR answer = 'unknown' OR answer = 'accepted' THEN 1 END) AS out
  FROM attempts WHERE delivery_id = :id;
