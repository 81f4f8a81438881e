SELECT contact, channel, address, policy, given_at FROM permissions WHERE channel = :channel;
