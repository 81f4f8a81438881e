SELECT * FROM tokens WHERE id = :id;
