SELECT * FROM sessions WHERE id = :id;
