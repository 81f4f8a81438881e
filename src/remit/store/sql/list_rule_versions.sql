SELECT * FROM rule_versions ORDER BY no;
