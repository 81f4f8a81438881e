SELECT * FROM tasks INDEXED BY tasks_by_series WHERE series_id = :series ORDER BY no DESC LIMIT :limit;
