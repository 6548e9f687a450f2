"""The old address of `cosmodag.acyclicity.closed_forms`."""

from cosmodag.acyclicity.closed_forms import (
    exponential_value_and_gradient,
    log_determinant_value_and_gradient,
    spectral_radius_value_and_gradient,
    truncated_powers_value_and_gradient,
)

__all__ = [
    "exponential_value_and_gradient",
    "log_determinant_value_and_gradient",
    "spectral_radius_value_and_gradient",
    "truncated_powers_value_and_gradient",
]
