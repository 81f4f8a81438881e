"""E-mail: sending over SMTP, receiving over IMAP, bounces, and sender authentication."""
