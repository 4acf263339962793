"""Settings every test shares."""

from hypothesis import settings

# The same examples every run; no deadline, since the first call of a kernel compiles it.
settings.register_profile("pinned", derandomize=True, deadline=None)
settings.load_profile("pinned")
