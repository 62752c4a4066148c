"""The configuration: its models, defaults and checks, all done while the workflow is parsed."""
