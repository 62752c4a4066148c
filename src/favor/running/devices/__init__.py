"""GPUs: which of them a job takes, and what happens where their memory runs out."""
