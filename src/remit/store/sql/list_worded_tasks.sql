-- Tasks that hold any of these words, the best first. Few words and rare ones are asked for: each
-- task that holds one of them is looked at.
SELECT tasks.id FROM tasks_text CROSS JOIN tasks ON tasks.no = tasks_text.rowid
 WHERE tasks_text MATCH :text AND tasks.deleted_at IS NULL
 ORDER BY bm25(tasks_text, 2.0, 1.0, 0.5) LIMIT :limit;
