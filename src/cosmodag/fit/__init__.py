"""The steps of a fit that all learners share: prepare, learn, refine, settle, save."""
