"""What may be assumed of the noise: the one place in which that is decided.

Equal variances and noise that is not Gaussian both decide directions that the Gaussian score leaves
open, and both decide them wrongly where they do not hold. `columns` says which tables rule them out
beforehand, `variances` compares the best graph under equal variances with the best under unequal
ones, `dependence` asks whether a linear model with independent noise holds on the graph that it
found, `curves` whether curves explain its arcs better, and `decision` puts these together.
"""
