INSERT INTO permissions (contact, channel, address, policy, given_at)
VALUES (:contact, :channel, :address, :policy, :now)
ON CONFLICT (contact, channel) DO UPDATE
   SET address = :address, policy = :policy, given_at = :now;
