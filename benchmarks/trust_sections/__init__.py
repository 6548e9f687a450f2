"""Sections of the page trust.md; each module offers `cells`, `measure` and `rows`."""
