"""Order search among categories by contingency counts: parents act jointly."""
