UPDATE resources SET seen_etag = etag
 WHERE account = :account AND calendar = :calendar AND path = :path AND why IS NOT NULL;
