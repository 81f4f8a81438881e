-- When somebody last wrote, by the address that an answer goes to. Reports have no sender.
SELECT MAX(said_at) AS at FROM inbound
 WHERE channel = :channel AND sender = :address AND sender <> '';
