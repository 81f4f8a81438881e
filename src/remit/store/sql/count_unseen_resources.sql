SELECT COUNT(*) AS n FROM resources INDEXED BY resources_refused
 WHERE why IS NOT NULL AND seen_etag IS NOT etag;
