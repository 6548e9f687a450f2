"""Rows in time: windows of a series, paths and responses, and the view of a graph over lags."""
