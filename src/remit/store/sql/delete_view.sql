DELETE FROM views WHERE name = :name;
