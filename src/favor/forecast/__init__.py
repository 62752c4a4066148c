"""Before the first job: hours, memory and disk that a configuration takes, and what differences it can tell apart."""
