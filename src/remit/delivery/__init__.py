"""The courier: may it be sent, claim, send, record. Notices use the same core."""
