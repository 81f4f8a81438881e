-- name: settle_spending
UPDATE spending
   SET tokens = :tokens, cents = :cents, requests = :requests, settled = 1
 WHERE key = :key AND settled = 0;

-- name: sum_task_spending
SELECT COALESCE(SUM(tokens), 0) AS tokens, COALESCE(SUM(cents), 0) AS cents,
       COALESCE(SUM(requests), 0) AS requests
  FROM spending WHERE task_id = :task AND at >= :since;

-- name: sum_task_tokens
-- What its requests took, each way, as far as their vendors said so.
SELECT COALESCE(SUM(output ->> '$.usage.asked'), 0) AS asked,
       COALESCE(SUM(output ->> '$.usage.answered'), 0) AS answered,
       COALESCE(SUM(output ->> '$.usage.cached'), 0) AS cached
  FROM steps WHERE task_id = :task AND name GLOB 'execute_tool*';

-- name: sum_series_spending
SELECT COALESCE(SUM(tokens), 0) AS tokens, COALESCE(SUM(cents), 0) AS cents,
       COALESCE(SUM(requests), 0) AS requests
  FROM spending WHERE series_id = :series AND at >= :since;

-- name: sum_spending
SELECT COALESCE(SUM(tokens), 0) AS tokens, COALESCE(SUM(cents), 0) AS cents,
       COALESCE(SUM(requests), 0) AS requests
  FROM spending WHERE at >= :since;

-- name: sum_spending_between
SELECT COALESCE(SUM(tokens), 0) AS tokens, COALESCE(SUM(cents), 0) AS cents,
       COALESCE(SUM(requests), 0) AS requests
  FROM spending WHERE at >= :since AND at < :until;

-- name: count_limit_raises
-- How often the owner let a task go over a limit.
SELECT COUNT(*) AS raises
  FROM reviews
 WHERE task_id = :task AND about = :about AND answer = 'approve' AND decided_at >= :since;

-- name: reserve_spending
-- One row a request. A request that is made again under its name is reckoned anew.
INSERT INTO spending (key, task_id, series_id, at, tokens, cents, requests, settled)
VALUES (:key, :task, :series, :now, :tokens, :cents, :requests, 0)
ON CONFLICT (key) DO UPDATE
   SET at = :now, tokens = :tokens, cents = :cents, requests = :requests, settled = 0;
