"""The referee: plausible families are searched, and compared on held-out rows."""
