-- What was read and when; without a token only that it could not be read.
UPDATE calendars
   SET token = COALESCE(:token, token), looked_at = COALESCE(:looked, looked_at), why = :why
 WHERE account = :account AND path = :path;
