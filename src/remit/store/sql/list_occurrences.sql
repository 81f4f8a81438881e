SELECT * FROM tasks INDEXED BY tasks_by_series WHERE series_id = :series AND deleted_at IS NULL
 ORDER BY no DESC LIMIT :limit;
