"""Rows in time: windows of a series, and views of a graph over lags."""
