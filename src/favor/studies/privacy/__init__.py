"""The privacy audit: what an adapter or an upload tells of its client."""
