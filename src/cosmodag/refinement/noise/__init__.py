"""The noise decision: what may be assumed of the noise of a table.

Equal variances and noise that is not Gaussian both decide directions that the Gaussian score leaves
open, and both decide them wrongly where they do not hold. `columns` finds tables that rule them out
beforehand, `variances` compares the best graph under equal variances with the best under unequal
ones, `dependence` tests whether a linear model with independent noise holds on the graph found,
`curves` whether curves explain its arcs better, and `decision` combines these.
"""
