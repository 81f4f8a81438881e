SELECT * FROM events WHERE seq > :seq ORDER BY seq LIMIT :limit;
