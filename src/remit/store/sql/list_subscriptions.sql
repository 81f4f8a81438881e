-- The sign-in decides: one that has ended or run out is told nothing.
SELECT each.* FROM subscriptions AS each
CROSS JOIN sign_ins AS one ON one.id = each.sign_in_id
WHERE one.ended_at IS NULL AND one.expires_at > :now
ORDER BY each.id;
