"""Time series: times of rows, lagged copies of columns, and windows of successive rows."""

from cosmodag.data.time.lags import LaggedTable, as_times, lagged
from cosmodag.data.time.window import Window, lagged_names, window_graph

__all__ = ["LaggedTable", "Window", "as_times", "lagged", "lagged_names", "window_graph"]
