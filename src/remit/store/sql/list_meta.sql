SELECT key, value FROM meta WHERE key >= :begin AND key < :end ORDER BY key;
