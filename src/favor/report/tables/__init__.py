"""One declarative specification per table of the paper, loaded by its label (:func:`favor.report.specs.load_spec`)."""
