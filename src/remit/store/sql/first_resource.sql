-- Which of several resources with one uid counts: what the owner trusts, then what came first.
SELECT resources.* FROM resources INDEXED BY resources_by_uid
  LEFT JOIN calendars ON calendars.account = resources.account AND calendars.path = calendar
 WHERE uid = :uid ORDER BY COALESCE(trusted, 0) DESC, no LIMIT 1;
