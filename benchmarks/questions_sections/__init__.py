"""Sections of the page questions.md; each module offers `cells`, `measure` and `rows`."""
