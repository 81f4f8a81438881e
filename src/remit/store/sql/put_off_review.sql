UPDATE reviews SET later_until = :until WHERE id = :id AND decided_at IS NULL;
