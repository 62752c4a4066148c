"""What adapters are asked once they are trained: continuations of prompts, and the likelihoods of texts."""
