INSERT INTO calendars (account, path, name, marked, trusted)
VALUES (:account, :path, :name, :marked, :trusted)
ON CONFLICT (account, path) DO UPDATE
   SET name = excluded.name, marked = excluded.marked, trusted = excluded.trusted;
