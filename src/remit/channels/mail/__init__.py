"""E-mail: letters over SMTP, what comes in over IMAP, bounces, and who really wrote."""
