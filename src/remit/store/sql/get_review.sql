SELECT * FROM reviews WHERE id = :id;
