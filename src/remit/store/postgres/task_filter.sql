-- name: find_word
-- Postgres looks up the words that begin so by itself.
SELECT NULL AS term WHERE CAST(:from AS TEXT) IS NOT NULL;

-- name: count_hits
SELECT COUNT(*) AS hits FROM (
  SELECT 1 FROM tasks_text WHERE tasks_text.words @@ match_query(:text) LIMIT :most);
