"""Experiments for tests that need one without a whole configuration around it."""

from favor.config.experiments import Experiment
from favor.config.protocol import apply_protocol


def experiment(**keys) -> Experiment:
    """An experiment of the paper's size with the given keys set, and its protocol applied."""
    names = {"corpus": "corpus", "base_model": "model", "style_encoder": "encoder", "clients": 50}
    made = Experiment.model_validate(names | keys)
    apply_protocol(made)
    return made
