-- Of some tasks what the index has read.
SELECT task_id, words, beside FROM snippets WHERE task_id IN (SELECT value FROM json_each(:tasks));
