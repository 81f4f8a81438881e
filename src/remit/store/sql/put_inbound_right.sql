-- What was heard counts for an hour or a day, not until a day that is far away.
UPDATE inbound SET heard_at = :now, said_at = MIN(said_at, :now) WHERE heard_at > :ahead;
