"""The planner: which job reads and writes what, and at what cost. Typed, without Snakemake, numpy, pandas or pyarrow."""
