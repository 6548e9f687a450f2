"""What every learner does before and after learning: check, prepare, refine, keep, save."""
