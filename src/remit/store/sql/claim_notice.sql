UPDATE notices
   SET state = 'claimed', claimed_at = :now, due_at = NULL, parcel = :parcel, channel = :channel,
       attempts = attempts + 1, body = CASE id WHEN :parcel THEN :body END, sha256 = :digest,
       why = NULL
 WHERE id = :id AND state = 'new';
