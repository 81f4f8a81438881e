-- Who wrote is looked for by the user id as well, and what came in long ago is forgotten.

CREATE INDEX inbound_by_user ON inbound (channel, json_extract(body, '$.user_id'), said_at)
 WHERE sender <> '';
CREATE INDEX inbound_by_age ON inbound (heard_at);
