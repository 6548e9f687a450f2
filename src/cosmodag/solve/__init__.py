"""Solvers: from problems and a recipe to optimised parameters.

==============  ==================================================================
``problems``    problems (data, settings, seed), batches of them, and backends
``recipe``      what is minimised
``plan``        the entry point: plans, solves in batches, estimates the duration
``methods``     the sequence of sub-problems of a method
``minimisers``  the solution of one sub-problem
``training``    the reference loop: rounds of Adam
``kernels``     faster implementations of the reference loop
``readout``     strengths of arcs and order from a solution
``watch``       Ctrl-C, time limit and progress bar of a run
``machine``     memory, threads and devices
==============  ==================================================================
"""
