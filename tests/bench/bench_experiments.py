"""Tiny experiments for tests, with every stage, that take seconds."""

TINY = """
name = "tiny"
title = "A tiny experiment"
time_limit = 300.0

[[group]]
data = ["n100_d5_ER1_{gauss,exp}"]
methods = ["cosmo", "cosmo-np"]
configurations = 3
graphs = 2
select = ["oracle", "score"]
validation = 3
fixed = ["cosmo-default", "variance-sort", "empty-graph"]
standardised = ["cosmo", "variance-sort"]
batch = 5
[group.parameters.cosmo]
epochs = 5
[group.parameters.cosmo-np]
epochs = 5
[group.parameters.cosmo-default]
epochs = 5
"""

TIMED = """
name = "timed"

[[group]]
data = ["n100_d5_ER1_gauss"]
fixed = ["empty-graph"]
validation = 1
timing = 1
epochs = ["cosmo", "nocurl-u"]
"""
