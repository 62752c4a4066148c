"""From raw corpora to documents, splits, author roster, allocation and prompts."""
