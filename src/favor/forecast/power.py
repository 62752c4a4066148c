"""What a configuration can tell apart before it is run, by the variances of a finished run."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from favor.analysis.variances import METRICS, SHIPPED, STYLE, SUBJECT, measure
from favor.config.experiments import Experiment
from favor.foundation.errors import UserError
from favor.foundation.files import read_json
from favor.paper.names import encoder_name
from favor.plan import Planner
from favor.statistics import power as statistics

UNITS = {"samples": "samples per prompt", "prompts": "prompts per author", "texts": "texts per author"}
_OUTPUTS = ("seeds", "prompts", "samples")
# Measures that are rates, of so many decisions per author; a share kept has the steps of what is kept.
RATES = {
    "likelihood_top1": ("seeds", "texts"),
    "profile_accuracy": _OUTPUTS,
    "author_accuracy": _OUTPUTS,
    "kept_author_accuracy": _OUTPUTS,
}
MOST_AUTHORS, MOST_TEXTS = 10_000, 1_000  # beyond, no corpus has them


def variances(like: str | None, experiments: list[str]) -> dict[str, Any]:
    """Return the variances of the run in ``like``, results or those of one experiment, or else those that ship.

    Of several experiments in a results folder the first is taken that is called like one of ``experiments``. Raises
    ``UserError`` where none is clear.
    """
    if like is None:
        found: dict[str, Any] = read_json(SHIPPED)
        return found
    folder = Path(like).expanduser()
    inside = sorted(path.parent for path in folder.glob("*/settings.json"))
    if (folder / "settings.json").is_file() or not inside:
        return measure(folder)
    chosen = [path for path in inside if path.name in experiments] or inside
    if len(chosen) > 1 and chosen[0].name not in experiments:
        names = ", ".join(path.name for path in inside)
        raise UserError(f"--like {like}: several experiments ({names}); name one, as in --like {inside[0]}")
    return measure(chosen[0])


def power_of(planner: Planner, known: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return, per experiment that is scored, its design, the family of tests, and what each measure tells apart.

    ``measures`` have ``smallest`` (the median pair of rows of ``known``), ``low`` and ``high`` (over pairs), and what
    ``half`` of it takes; or ``why_not``. ``known``: of :func:`variances`.
    """
    found = {}
    for name in planner.evaluation.shown():
        experiment = planner.config.experiments[name]
        scored = {"likelihood": {"likelihood"}, "profile": {"profiles"}, "author": {"prototypes", "voice_kept"}}
        scored["kept"] = {"voice_kept"}
        families = set(planner.evaluation.families(name))
        entries = [entry for entry in known["measures"] if families & scored[str(entry["metric"]).partition("_")[0]]]
        tests = len(experiment.methods) - 1
        if tests and entries:
            found[name] = _experiment(experiment, len(planner.training.clients(name)), tests, entries)
    return found


def _experiment(experiment: Experiment, authors: int, tests: int, entries: list[Mapping[str, Any]]) -> dict[str, Any]:
    section = experiment.evaluation.likelihood
    design = {
        "seeds": len(experiment.seeds),
        "prompts": experiment.prompts.per_client,
        "samples": experiment.generation.samples,
        "texts": 1 if section is None else section.texts_per_client,
    }
    of = {(entry["metric"], entry["reader"]): entry for entry in entries}
    measures = []
    for (metric, reader), entry in of.items():
        kept = of.get((str(metric).removeprefix("kept_"), reader), entry)
        measures.append({"metric": metric, "reader": reader, **_measure(entry, kept, authors, design, tests)})
    return {"authors": authors, **design, "tests": tests, "measures": measures}


def _variances(
    entry: Mapping[str, Any], design: Mapping[str, int]
) -> list[tuple[float, tuple[statistics.Component, ...]]]:
    """Return an author's variance in a design and what it consists of, by pair of rows, the least first."""
    pairs = [
        tuple(
            statistics.Component(part["kind"], part["variance"], tuple(part["averaged_over"]))
            for part in pair["components"]
        )
        for pair in entry.get("pairs", ())
    ]
    return sorted(((statistics.variance_of_author(pair, design), pair) for pair in pairs), key=lambda found: found[0])


def _measure(
    entry: Mapping[str, Any], kept: Mapping[str, Any], authors: int, design: Mapping[str, int], tests: int
) -> dict[str, Any]:
    """``kept``: the measure of which ``entry`` is a share, or itself."""
    if "why_not" in entry:
        return {"why_not": f"not known: {entry['why_not']} in the run behind the variances"}
    if authors < statistics.least_authors(tests):
        return {"why_not": "none, however large"}
    found = _variances(entry, design)
    decisions = math.prod(design[name] for name in RATES.get(entry["metric"], ()))

    def smallest(place: int) -> float:
        """Return the smallest difference, at the variance of the pair in that place."""
        own, of = found[place][0], _variances(kept, design)[place][0]
        step = 1 / decisions / math.sqrt(of) if entry["metric"] in RATES and of > 0 else 0.0
        return statistics.detectable(authors, tests, step) * math.sqrt(own)

    middle = len(found) // 2
    return {
        "smallest": smallest(middle),
        "low": smallest(0),
        "high": smallest(-1),
        "pairs": len(found),
        "half": {
            "authors": statistics.authors_for(statistics.detectable(authors, tests) / 2, tests, MOST_AUTHORS),
            **_numbers_for_half(found[middle][1], design),
        },
    }


def _numbers_for_half(typical: tuple[statistics.Component, ...], design: Mapping[str, int]) -> dict[str, int | None]:
    """Return how many prompts, texts or samples give a quarter of the variance; None where no number does."""
    wanted = statistics.variance_of_author(typical, design) / 4
    numbers = {}
    for name in UNITS:
        if any(name in part.averaged_over for part in typical):
            number = statistics.number_for(typical, design, name, wanted)
            numbers[name] = number if number is not None and number <= MOST_TEXTS else None
    return numbers


def power_lines(planner: Planner, found: Mapping[str, Mapping[str, Any]], known: Mapping[str, Any]) -> Iterator[str]:
    """Yield what ``favor plan`` prints of :func:`power_of`."""
    for name, each in found.items():
        yield ""
        rows = planner.config.experiments[name].methods
        subject = SUBJECT if SUBJECT in rows else next(iter(rows))
        title = planner.project.titles(name)[subject]
        yield f"Smallest difference between {title} and another row that '{name}' tells apart, in four runs of five:"
        numbers = {"author": "authors", "seed": "seeds", "prompt": "prompts", "sample": "samples", "text": "texts"}
        counted = {one: f"{each[many]} {one}{'s' * (each[many] != 1)}" for one, many in numbers.items()}
        counted["test"] = f"{each['tests']} test{'s' * (each['tests'] != 1)}"
        yield (
            f"{counted['author']}, {counted['seed']}, {counted['prompt']} and {counted['text']} held out per author, "
            f"{counted['sample']} per prompt; {counted['test']} per column (Holm)."
        )
        if each["authors"] < statistics.least_authors(each["tests"]):
            yield from too_few(each["authors"], each["tests"])
            continue
        titles = [_title(entry) for entry in each["measures"]]
        for title, entry in zip(titles, each["measures"], strict=True):
            yield f"  {title.ljust(max(map(len, titles)))}  {_words(entry)}"
    if not found:
        return
    run = known["run"]
    yield ""
    size = (
        f"{run['authors']} authors, {run['seeds']} seed{'s' * (run['seeds'] != 1)}, {run['prompts']} prompts per author"
    )
    yield f"Variances: measured on {run['called']} ({size})."
    once = [name for name in ("seeds", "samples") if run.get(name) == 1]
    if once:
        yield f"That run has one of {' and of '.join(once)}: what more of them would do is not known."
    low, high = statistics.uncertainty(run["authors"])
    yield (
        f"So few authors leave them uncertain: the true differences lie between {low:.1f} and {high:.1f} times these "
        "(95 %, normal values)."
    )
    yield "In brackets: the pairs of rows that vary least and most. Your own run says more: --like RESULTS/EXPERIMENT."


def too_few(authors: int, tests: int) -> Iterator[str]:
    """Yield why so few authors tell nothing apart, and what to do."""
    floor = 2.0 ** (1 - authors)
    yield f"  With {authors} authors and {tests} tests no difference can be told apart, however large: the signs of"
    asked = _number(statistics.LEVEL / tests)
    yield f"  {authors} differences show no p below {_number(floor)}, and Holm asks for one below {asked}."
    most = math.ceil(statistics.LEVEL / floor) - 1
    fewer = f", or compare {most + 1} methods at most" if most else ""
    yield f"  Take {statistics.least_authors(tests)} authors or more ('roles.clients' of the corpus){fewer}."


def _title(entry: Mapping[str, Any]) -> str:
    metric, reader = METRICS[entry["metric"]], str(entry["reader"])
    unit = f", {metric.unit}" if metric.unit else ""
    return f"{metric.label}{unit}" + (
        f" ({'style encoder' if reader == STYLE else encoder_name(reader)})" if reader else ""
    )


def _words(entry: Mapping[str, Any]) -> str:
    if "why_not" in entry:
        return str(entry["why_not"])
    metric = METRICS[entry["metric"]]
    text = f"{_number(entry['smallest'])} [{_number(entry['low'])}, {_number(entry['high'])}]"
    if entry["smallest"] >= metric.maximum - metric.minimum:
        return f"{text}: more than there can be"
    half = entry["half"]
    ways = [f"{half['authors']:,} authors" if half["authors"] else f"more than {MOST_AUTHORS:,} authors"]
    ways += [f"{half[name]} {unit}" for name, unit in UNITS.items() if half.get(name)]
    never = [unit for name, unit in UNITS.items() if name in half and half[name] is None]
    return f"{text}; half: {' or '.join(ways)}{f' (no number of {never[0]})' if never else ''}"


def _number(value: float) -> str:
    return f"{value:.2g}".replace("0.", ".", 1) if value >= 1e-3 else f"{value:.1e}"
