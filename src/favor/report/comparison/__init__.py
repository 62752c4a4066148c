"""Two groups' results, one beside the other: what each measured, whether it may be compared, and the differences."""
