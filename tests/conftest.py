from hypothesis import HealthCheck, settings

# A slow machine must not fail a property: neither limit says anything about the code.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
