"""Rounds between real sites, by files alone: what the workflow's jobs do, each client in a folder of its own."""
