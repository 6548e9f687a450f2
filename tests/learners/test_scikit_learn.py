"""Every learner passes scikit-learn's own checks of an estimator.

The checks fit tables of many shapes, and trained learners compile programs for each shape. One
learner of each kind is checked every time, and all others nightly, because the checks concern the
base class.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from learner_catalogue import CATALOGUE, QUICK

EVERY_TIME = ["Cosmo", "OrderSearch", "BlockSearch", "VarianceSort"]
# Checks that cannot pass, and why.
EXCEPTIONS = {
    "check_dtype_object": (
        "a column that holds no numbers is a DataError, which is a ValueError and names the "
        "column; the check insists on a TypeError"
    ),
}


def expected_failures(estimator) -> dict[str, str]:
    return EXCEPTIONS


def test_few_checks_are_excepted():
    assert len(EXCEPTIONS) <= 2


def only_own_warnings(test):
    """Warnings of NumPy and Python are errors; the package's warnings about tiny tables are not."""
    for category in ("RuntimeWarning", "FutureWarning", "DeprecationWarning"):
        test = pytest.mark.filterwarnings(f"error::{category}")(test)
    return test


def checks_of(names):
    learners = [CATALOGUE[name]() for name in names]
    return parametrize_with_checks(learners, expected_failed_checks=expected_failures)


@only_own_warnings
@checks_of(EVERY_TIME)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.nightly
@only_own_warnings
@checks_of([name for name in QUICK if name not in EVERY_TIME])
def test_scikit_learns_checks_of_all_others(estimator, check):
    check(estimator)
