SELECT MAX(no) AS highest FROM tasks;
