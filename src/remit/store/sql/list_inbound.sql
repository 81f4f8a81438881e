-- What came in under refs that begin alike, oldest first.
SELECT * FROM inbound WHERE ref >= :begin AND ref < :end ORDER BY ref;
