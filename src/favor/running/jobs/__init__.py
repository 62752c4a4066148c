"""How a job starts, what it says, and the environment it inherits."""
