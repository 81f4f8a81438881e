SELECT contact, channel, address, policy, given_at FROM permissions ORDER BY contact, channel;
