-- What came of a message, for every notice in it. A doubt is looked into at `due`, if ever.
UPDATE notices
   SET state = :state, due_at = :due, why = :why, receipt = :receipt,
       told_at = CASE :state WHEN 'sent' THEN :now END,
       body = CASE :state WHEN 'unknown' THEN body END
 WHERE parcel = :parcel AND (state = 'claimed' OR state = 'unknown');
