-- The newest that come before a place; 0 is no place.
SELECT * FROM turns
 WHERE conversation_id = :conversation AND (:before = 0 OR n < :before)
 ORDER BY n DESC LIMIT :limit;
