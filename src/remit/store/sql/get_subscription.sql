SELECT each.* FROM subscriptions AS each
CROSS JOIN sign_ins AS one ON one.id = each.sign_in_id
WHERE each.id = :id AND one.ended_at IS NULL AND one.expires_at > :now;
