"""What an experiment's clipping and noise guarantee its authors, from the schedule."""

from collections import Counter
from itertools import chain

from favor.config.experiments import Experiment
from favor.plan.training import Training
from favor.statistics.accounting import epsilon, rho


def most_participations(training: Training, experiment: str) -> int:
    """Return the most rounds that a client takes part in, over seeds and the sampling rules of its tracks."""
    section = training.project.config.experiments[experiment]
    samplings = {plan.shared.sampling for plan in training.project.plans(experiment).values() if plan.shared}
    schedules = [training.rounds(experiment, str(seed), sampling) for seed in section.seeds for sampling in samplings]
    return max((max(Counter(chain.from_iterable(rounds)).values()) for rounds in schedules), default=0)


def failure_probability(section: Experiment) -> float:
    """Return delta of an experiment's guarantee: ``federation.privacy.delta``, or clients^-1.1."""
    assert section.clients is not None
    privacy = section.federation.privacy
    return section.clients**-1.1 if privacy is None or privacy.delta is None else privacy.delta


def privacy_loss(training: Training, experiment: str) -> tuple[float, float]:
    """Return (epsilon, delta) of each shared adapter, for one author's uploads or zeros; infinite without noise."""
    section = training.project.config.experiments[experiment]
    privacy = section.federation.privacy
    delta = failure_probability(section)
    noise = 0.0 if privacy is None else privacy.noise_multiplier
    return epsilon(rho(most_participations(training, experiment), noise), delta), delta


def guarantee(training: Training, experiment: str) -> str:
    """Return the sentence that tables print about the guarantee; "" without clipping."""
    section = training.project.config.experiments[experiment]
    privacy = section.federation.privacy
    if privacy is None:
        return ""
    if not privacy.noise_multiplier:
        return f"Uploads are clipped to a norm of {privacy.clip:g}; without noise that guarantees nothing."
    loss, delta = privacy_loss(training, experiment)
    times = most_participations(training, experiment)
    open_server = "" if section.federation.aggregation == "sum_only" else "The server sees uploads without noise. "
    return (
        f"Each shared adapter is (ε = {loss:.3g}, δ = {delta:.2g})-differentially private for one author in "
        f"{section.clients}, whose uploads are replaced by zeros in the neighbouring run: clip {privacy.clip:g}, noise "
        f"{privacy.noise_multiplier:g}, at most {times} {'participation' if times == 1 else 'participations'}. "
        f"{open_server}Personal adapters are not covered."
    )
