-- Those whose starts are not known far enough ahead any more.
SELECT * FROM resources INDEXED BY resources_by_end
 WHERE until_at < :until ORDER BY until_at LIMIT :limit;
