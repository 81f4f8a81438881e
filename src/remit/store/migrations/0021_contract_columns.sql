-- The contract's type and whether its checks passed get columns of their own: an index over JSON was
-- worked out again with each write of a task. A row whose details cannot be read has no contract.
DROP INDEX tasks_by_contract;
DROP INDEX tasks_unproven;
ALTER TABLE tasks ADD COLUMN contract_type TEXT;
ALTER TABLE tasks ADD COLUMN unproven INTEGER NOT NULL DEFAULT 0; -- completed, and not all passed
UPDATE tasks SET contract_type = json_extract(details, '$.contract.type')
 WHERE json_valid(details) AND json_type(details, '$.contract') IS NOT NULL;
UPDATE tasks SET unproven = 1
 WHERE status = 'completed' AND contract_type <> 'advisory'
   AND (json_type(details, '$.verdict') IS NULL
        OR EXISTS (SELECT 1 FROM json_each(details, '$.verdict.findings')
                    WHERE json_extract(value, '$.result') = 'fail'));
CREATE INDEX tasks_by_contract ON tasks (contract_type, no) WHERE contract_type <> 'verifiable';
CREATE INDEX tasks_unproven ON tasks (no) WHERE unproven = 1;
