"""One file per federated method or reference."""
