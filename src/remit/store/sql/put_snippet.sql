INSERT INTO snippets (task_id, words, beside) VALUES (:task, :words, :beside)
    ON CONFLICT (task_id) DO UPDATE SET words = :words, beside = :beside;
