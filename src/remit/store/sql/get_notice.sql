SELECT * FROM notices WHERE id = :id;
