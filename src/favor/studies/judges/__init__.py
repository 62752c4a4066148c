"""Language models as judges of outputs."""
