"""No test here measures time: on a busy machine an example may take as long as it takes."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
