"""Solvers: from problems and a recipe to parameters.

==============  ==================================================================
``problems``    problems (data, settings, seed), batches of them, and backends
``recipe``      what is minimised
``plan``        the entry point: plans, solves batch by batch, estimates the time
``methods``     the sequence of sub-problems of a method
``minimisers``  the solution of one sub-problem
``training``    the reference loop: rounds of Adam; ``kernels`` are faster
``readout``     strengths of arcs and order from a solution
``watch``       Ctrl-C, time limit and progress bar of a run
``machine``     memory, threads and devices
==============  ==================================================================
"""
