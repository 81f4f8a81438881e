SELECT COUNT(*) AS n FROM views WHERE name <> :name;
