"""One author's voice without a federation: how near texts are to it, and which habits differ."""
