INSERT INTO conversations (id, title, created_at, origin, updated_at)
VALUES (:id, :title, :now, :origin, MAX(:now, COALESCE(
  (SELECT MAX(said_at) FROM turns WHERE conversation_id = :id), 0)));
