"""Steps of ``cosmodag fit``, and the folder that it writes."""
