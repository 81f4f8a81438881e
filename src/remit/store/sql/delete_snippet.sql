DELETE FROM snippets WHERE task_id = :task;
