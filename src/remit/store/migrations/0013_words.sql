-- The words of the full text, in their order; nothing is kept for it.
CREATE VIRTUAL TABLE tasks_words USING fts5vocab('tasks_text', 'instance');
