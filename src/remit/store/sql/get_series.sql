SELECT * FROM series WHERE id = :id;
