"""Detection of hidden common causes from dense groups of arcs in a learnt graph."""
