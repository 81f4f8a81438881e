SELECT * FROM turns WHERE key = :key;
