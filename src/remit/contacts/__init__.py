"""People, their addresses, and what the owner allows: `contacts.yaml` and the permissions."""
