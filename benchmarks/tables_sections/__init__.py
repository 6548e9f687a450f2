"""Sections of the page tables.md; each module offers `cells`, `measure` and `rows`."""
