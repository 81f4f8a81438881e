-- What no check has proven is read afterwards, in a list of its own: along an index of what is not
-- of the common kind. A row that cannot be read is not in it, and keeps nobody from the others.
CREATE INDEX tasks_by_contract
    ON tasks (CASE WHEN json_valid(details) THEN json_extract(details, '$.contract.type') END, no)
 WHERE CASE WHEN json_valid(details) THEN json_extract(details, '$.contract.type') END
       <> 'verifiable';

-- What is worked on for a project, or by a command; most tasks are for the brain.
CREATE INDEX tasks_by_agent ON tasks (assigned_agent, no) WHERE assigned_agent IS NOT NULL;
