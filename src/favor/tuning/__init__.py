"""Learning rates and passes that are chosen by validation loss, on authors who are not the report's."""
