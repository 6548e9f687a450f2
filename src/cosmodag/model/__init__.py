"""The parts of a model: orientation, structure, mechanism and objective."""
