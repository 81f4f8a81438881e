-- Held by a worker that is not this one: its process is gone, for we hold the directory's lock.
SELECT * FROM tasks WHERE worker IS NOT NULL AND worker <> :worker;
