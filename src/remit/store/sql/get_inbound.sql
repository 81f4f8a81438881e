SELECT * FROM inbound WHERE ref = :ref;
