SELECT * FROM occurrences WHERE uid = :uid;
