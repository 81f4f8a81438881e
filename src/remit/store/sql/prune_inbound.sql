DELETE FROM inbound WHERE heard_at < :before;
