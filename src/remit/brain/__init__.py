"""From plan to reply. The only package that talks to a language model."""
