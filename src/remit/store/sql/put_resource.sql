INSERT INTO resources (account, calendar, path, etag, uid, body, until_at, why)
VALUES (:account, :calendar, :path, :etag, :uid, :body, :until, :why)
ON CONFLICT (account, calendar, path) DO UPDATE
   SET etag = excluded.etag, uid = excluded.uid, body = excluded.body,
       until_at = excluded.until_at, why = excluded.why;
