SELECT no FROM rule_versions WHERE key = :key;
