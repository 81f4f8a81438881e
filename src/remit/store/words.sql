-- name: find_word
-- The first word of the index at or after these letters; the words between are not walked.
SELECT term FROM tasks_words WHERE term >= :from LIMIT 1;

-- name: count_hits
-- How many tasks hold these words, up to a number.
SELECT COUNT(*) AS hits FROM (SELECT 1 FROM tasks_text WHERE tasks_text MATCH :text LIMIT :most);
