"""The courier: check permission, claim, send, record. Notices use the same core."""
