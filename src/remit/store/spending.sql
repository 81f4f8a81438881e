-- name: settle_spending
UPDATE spending
   SET tokens = :tokens, cents = :cents, requests = :requests, settled = 1
 WHERE key = :key AND settled = 0;

-- name: sum_task_spending
SELECT CAST(COALESCE(SUM(tokens), 0) AS BIGINT) AS tokens,
       CAST(COALESCE(SUM(cents), 0) AS BIGINT) AS cents,
       CAST(COALESCE(SUM(requests), 0) AS BIGINT) AS requests
  FROM spending WHERE task_id = :task AND at >= :since;

-- name: sum_task_tokens
-- What its requests took, each way, as far as their vendors said so.
SELECT CAST(COALESCE(SUM(CAST(output -> 'usage' ->> 'asked' AS BIGINT)), 0) AS BIGINT) AS asked,
       CAST(COALESCE(SUM(CAST(output -> 'usage' ->> 'answered' AS BIGINT)), 0) AS BIGINT) AS answered,
       CAST(COALESCE(SUM(CAST(output -> 'usage' ->> 'cached' AS BIGINT)), 0) AS BIGINT) AS cached
  FROM steps WHERE task_id = :task AND substr(name, 1, 12) = 'execute_tool';

-- name: sum_series_spending
SELECT CAST(COALESCE(SUM(tokens), 0) AS BIGINT) AS tokens,
       CAST(COALESCE(SUM(cents), 0) AS BIGINT) AS cents,
       CAST(COALESCE(SUM(requests), 0) AS BIGINT) AS requests
  FROM spending WHERE series_id = :series AND at >= :since;

-- name: sum_spending
SELECT CAST(COALESCE(SUM(tokens), 0) AS BIGINT) AS tokens,
       CAST(COALESCE(SUM(cents), 0) AS BIGINT) AS cents,
       CAST(COALESCE(SUM(requests), 0) AS BIGINT) AS requests
  FROM spending WHERE at >= :since;

-- name: sum_spending_between
SELECT CAST(COALESCE(SUM(tokens), 0) AS BIGINT) AS tokens,
       CAST(COALESCE(SUM(cents), 0) AS BIGINT) AS cents,
       CAST(COALESCE(SUM(requests), 0) AS BIGINT) AS requests
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
