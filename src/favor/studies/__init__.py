"""The paper's studies beside the main experiments: people and models that read the outputs."""
