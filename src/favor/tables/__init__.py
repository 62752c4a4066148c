"""Tables: what they are, how cells are made of scores, and how they are written."""
