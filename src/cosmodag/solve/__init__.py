"""Solvers: from problems and a recipe to parameters.

==============  =====================================================================
``problems``    a problem (data, settings, seed), and batches of problems of one shape
``recipe``      what is minimised
``many``        the entry point: plans, solves batch by batch, yields solutions
``plan``        device, backend and size of batches; ``cost`` estimates the time
``methods``     the sequence of sub-problems of a method
``minimisers``  the solution of one sub-problem
``training``    the reference loop: rounds of Adam
``kernels``     faster backends; ``backend`` is their interface
``readout``     strengths of arcs and order from a solution
``watch``       Ctrl-C and time limit of a run; ``progress_bar`` its display
``machine``     memory, threads and devices
==============  =====================================================================
"""
