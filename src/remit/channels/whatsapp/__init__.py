"""WhatsApp over Meta's Cloud API: messages out, messages and reports in."""
