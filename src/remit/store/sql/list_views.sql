SELECT * FROM views ORDER BY name;
