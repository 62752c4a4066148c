"""Base language models, LoRA adapters, training and generation."""
