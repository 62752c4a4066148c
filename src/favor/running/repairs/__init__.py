"""What is repaired in the code of others while it runs."""
