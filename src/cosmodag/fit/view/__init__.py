"""What a fitted learner shows of its graph: arcs, summary, drawings, and answers to questions."""
