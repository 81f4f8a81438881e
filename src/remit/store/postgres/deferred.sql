-- name: find_table
SELECT 1 AS found FROM pg_tables WHERE schemaname = current_schema() AND tablename = :name;
