SELECT path, etag, uid FROM resources WHERE account = :account AND calendar = :calendar;
