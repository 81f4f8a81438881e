-- The first word of the index at or after these letters; the words between are not walked.
SELECT term FROM tasks_words WHERE term >= :from LIMIT 1;
