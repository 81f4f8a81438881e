-- Some tasks by their ids, whether they were deleted or not.
SELECT * FROM tasks WHERE id IN (SELECT value FROM json_each(:tasks));
