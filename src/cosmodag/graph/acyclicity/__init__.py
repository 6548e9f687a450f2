"""Acyclicity as a number: four functions h(W) that are zero on DAGs and grow with cycles.

COSMO needs none of them; the methods it is compared with minimise a score subject to h(W) = 0.

================== ======================= ============== ===================================
function           method                  cost           zero on a DAG
================== ======================= ============== ===================================
exponential        NOTEARS                 O(d³)          exactly
log_determinant    DAGMA                   O(d³)          to rounding
truncated_powers   TMPI                    O(d³ log k)    exactly
spectral_radius    NOBEARS                 O(d²)          no: an offset keeps it above zero
================== ======================= ============== ===================================

Each is a JAX function of one W, with a closed-form gradient, for use with `jax.jit` and `jax.vmap`.
Functions whose names end in ``_of`` take the non-negative matrix A in place of A = W ∘ W, for
models with several weights per arc (A = Σ w²). `cosmodag.graph.acyclicity.closed_forms` has the
same in NumPy float64, as pairs of value and gradient for SciPy's optimisers; tests of acyclicity
are in `cosmodag.graph.dags`. Both are also importable from here.
"""

from cosmodag.graph.acyclicity.closed_forms import (
    exponential_value_and_gradient,
    log_determinant_value_and_gradient,
    spectral_radius_value_and_gradient,
    truncated_powers_value_and_gradient,
)
from cosmodag.graph.acyclicity.functions import (
    PowerState,
    exponential,
    exponential_of,
    in_domain,
    log_determinant,
    log_determinant_of,
    power_start,
    resolvent,
    spectral_radius,
    spectral_radius_of,
    truncated_powers,
    truncated_powers_of,
)
from cosmodag.graph.dags import agreeing, drop_cycles, is_dag, order_of, topological_order

__all__ = [
    "PowerState",
    "agreeing",
    "drop_cycles",
    "exponential",
    "exponential_of",
    "exponential_value_and_gradient",
    "in_domain",
    "is_dag",
    "log_determinant",
    "log_determinant_of",
    "log_determinant_value_and_gradient",
    "order_of",
    "power_start",
    "resolvent",
    "spectral_radius",
    "spectral_radius_of",
    "spectral_radius_value_and_gradient",
    "topological_order",
    "truncated_powers",
    "truncated_powers_of",
    "truncated_powers_value_and_gradient",
]
