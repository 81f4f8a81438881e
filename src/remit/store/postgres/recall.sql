-- name: list_tasks_by_words
-- As in the shared statement; a word in the title weighs most, one in the result least.
SELECT tasks.id FROM tasks_text JOIN tasks ON tasks.no = tasks_text.rowid
 WHERE tasks_text.words @@ match_query(:text) AND tasks.deleted_at IS NULL
 ORDER BY ts_rank('{0, 0.25, 0.5, 1}', tasks_text.words, match_query(:text)) DESC LIMIT :limit;
