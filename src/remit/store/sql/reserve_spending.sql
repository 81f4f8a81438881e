-- One row a request. A request that is made again under its name is reckoned anew.
INSERT INTO spending (key, task_id, series_id, at, tokens, cents, requests, settled)
VALUES (:key, :task, :series, :now, :tokens, :cents, :requests, 0)
ON CONFLICT (key) DO UPDATE
   SET at = :now, tokens = :tokens, cents = :cents, requests = :requests, settled = 0;
