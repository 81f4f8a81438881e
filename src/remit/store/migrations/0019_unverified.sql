-- Work that its owner took although its checks had not passed stands in the list of what is not
-- verified, beside advice. A finding is looked for as it is written: in a text its quotes would be
-- escaped.
CREATE INDEX tasks_unproven ON tasks (no)
 WHERE status = 'completed'
   AND CASE WHEN json_valid(details)
            THEN json_extract(details, '$.contract.type') <> 'advisory'
                 AND (json_type(details, '$.verdict') IS NULL
                      OR instr(details, '"result":"fail"') > 0) END;
