"""FAVoR Workflow: federated personalised text generation, its author-style homogenisation, and how it is measured."""
