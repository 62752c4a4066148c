"""The embedded demo corpus: generated blog posts of authors with stylistic habits, in the Kaggle CSV format."""
