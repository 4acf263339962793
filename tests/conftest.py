"""Settings every test shares."""

from hypothesis import HealthCheck, settings

# The same examples every run; no clock, since the first call of a kernel compiles it.
settings.register_profile(
    "pinned", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("pinned")
