UPDATE spending
   SET tokens = :tokens, cents = :cents, requests = :requests, settled = 1
 WHERE key = :key AND settled = 0;
