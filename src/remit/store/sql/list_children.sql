-- Along the index that makes sources unique.
SELECT source_ref FROM tasks
WHERE source_kind = :kind AND source_ref >= :first AND source_ref < :end
ORDER BY source_ref LIMIT :limit;
