SELECT name, output FROM steps WHERE task_id = :task AND round = :round;
