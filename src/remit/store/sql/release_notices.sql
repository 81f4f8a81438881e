-- It never left. What waited only for its turn has used up no try.
UPDATE notices
   SET state = 'new', due_at = :due, why = :why, parcel = NULL, body = NULL, sha256 = NULL,
       claimed_at = NULL, attempts = attempts - :back
 WHERE parcel = :parcel AND (state = 'claimed' OR state = 'unknown');
