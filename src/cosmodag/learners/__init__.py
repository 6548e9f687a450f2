"""Learners: scikit-learn estimators that turn a table into a DAG."""

from cosmodag.learners.base import StructureLearner
from cosmodag.learners.cosmo import Cosmo
from cosmodag.learners.saved import load
from cosmodag.learners.settings import default_settings, paper_settings

__all__ = ["Cosmo", "StructureLearner", "default_settings", "load", "paper_settings"]
