SELECT calendars.*,
       (SELECT COUNT(*) FROM resources
         WHERE account = calendars.account AND calendar = calendars.path) AS resources,
       (SELECT COUNT(*) FROM resources
         WHERE account = calendars.account AND calendar = calendars.path AND why IS NOT NULL)
         AS refused
  FROM calendars ORDER BY account, name, path;
