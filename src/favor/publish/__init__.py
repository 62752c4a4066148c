"""What leaves the results folder: the release bundle, its scan and metadata, exports."""
