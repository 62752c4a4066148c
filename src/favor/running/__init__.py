"""What runs around the jobs: locks, logs, progress, GPUs, Slurm, fingerprints. Nothing here can change a result."""
