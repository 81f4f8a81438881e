SELECT * FROM event_series WHERE uid = :uid;
