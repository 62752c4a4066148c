"""What an experiment's findings stand on: its tables, and the claims that they allow (:mod:`favor.analysis.claims`)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import cast

import pandas as pd

from favor.analysis.claims import Rate, differences_apart, p_of_limits, rates_above, settle
from favor.analysis.schemas import EVIDENCE
from favor.foundation.parquet import read_parquet
from favor.paper.names import CONTROLS, method_name, unmarked
from favor.paper.settings import Claimed
from favor.scores.metric import UNSEEN
from favor.scores.schemas import SCORES
from favor.scores.voice_kept import FAILURES_WRONG
from favor.statistics.paired import holm
from favor.statistics.power import least_authors

BASE = "base_only"
HEADLINE = FAILURES_WRONG
SHARE = f"kept_{HEADLINE}"
COMMON = "kept_common_accuracy"
ENDS = ("", "low", "high")
_GAINS = ("own", "others", "voice", "neutral")


def subject(methods: Sequence[str]) -> str:
    """Return the row that is compared with all others: FAVoR, or else the first."""
    return "favor" if "favor" in methods else methods[0]


def differences(evidence: pd.DataFrame, encoder: str, metric: str, left: str) -> pd.DataFrame:
    """Return columns rival, delta, low, high, by_seed, p, error, p_holm: ``left`` minus each other, Holm over them.

    ``evidence``: the table of that name. Controls are not rivals.
    """
    own = evidence[(evidence["encoder"] == encoder) & (evidence["metric"] == metric)]
    records = []
    for row in own.to_dict("records"):
        delta, low, high, by_seed = (row[name] for name in ("delta", "low", "high", "by_seed"))
        rest = row["p"], row["error"]
        if row["left_method"] == left and row["right_method"] not in CONTROLS:
            records.append((row["right_method"], delta, low, high, list(by_seed), *rest))
        if row["right_method"] == left and row["left_method"] not in CONTROLS:
            records.append((row["left_method"], -delta, -high, -low, [-each for each in by_seed], *rest))
    found = pd.DataFrame(records, columns=["rival", "delta", "low", "high", "by_seed", "p", "error"])
    return found.assign(p_holm=holm(found["p"].to_numpy(dtype=float)))


def means(evidence: pd.DataFrame, encoder: str, metric: str) -> dict[str, float]:
    """Return the mean over seeds of every method and control that has one."""
    own = evidence[(evidence["encoder"] == encoder) & (evidence["metric"] == metric)]
    return dict(chain(*(zip(own[f"{side}_method"], own[side], strict=True) for side in ("left", "right"))))


@dataclass(frozen=True)
class Facts:
    """What the sentences of one experiment are made from."""

    evidence: pd.DataFrame  # the table of that name
    kept: pd.DataFrame | None  # scores of the family voice_kept
    style: str  # the encoder that methods are aligned to
    methods: Sequence[str]  # rows in the experiment's order
    authors: int
    display: Mapping[str, str]  # printed names
    likelihood: pd.DataFrame | None = None  # scores of that family
    seeds: int = 1
    # Share of the way from chance to the authors' own texts, within which a difference is ruled out.
    margin: float = field(kw_only=True)
    unseen: Sequence[str] = ()  # the encoders whose mean judges
    prompts: int = 0  # of an author, as asked for

    @classmethod
    def read(cls, folder: Path, values: Claimed) -> "Facts":
        """Return the facts of an experiment whose results lie in ``folder``."""
        kept, likelihood = (
            read_parquet(folder / "scores" / f"{family}.parquet", SCORES) if family in values.families else None
            for family in ("voice_kept", "likelihood")
        )
        evidence, seeds = read_parquet(folder / "evidence.parquet", EVIDENCE), len(values.seeds)
        about = (values.style_encoder, values.rows, values.clients, values.display, likelihood, seeds)
        return cls(evidence, kept, *about, values.unseen, values.prompts_per_client, margin=values.margin)

    @property
    def encoder(self) -> str:
        """The encoder that judges: the mean of the unseen ones, or else the methods' own."""
        return UNSEEN if (self.evidence["encoder"] == UNSEEN).any() else self.style

    @property
    def judge(self) -> str:
        """The printed judge."""
        if self.encoder == self.style:
            return "the style encoder that methods are aligned to"
        return f"{'a style encoder' if self.one_judge else 'style encoders'} that no method has seen"

    @property
    def one_judge(self) -> bool:
        """Whether one encoder judges, and no mean of several."""
        return self.encoder == self.style or len(self.unseen) == 1

    @property
    def chance(self) -> float:
        """The share of outputs that go to the right author where nothing tells authors apart."""
        return 1 / self.authors

    @property
    def values(self) -> dict[str, float]:
        """The measure by row and control."""
        return means(self.evidence, self.encoder, HEADLINE)

    @property
    def authors_read(self) -> int:
        """How many authors have unseen texts that adapters read, in the row with the fewest: the clusters there."""
        if self.likelihood is None:
            return 0
        gains = self.likelihood[(self.likelihood["metric"] == "likelihood_gain") & self.likelihood["value"].notna()]
        own = [reader == writer for reader, _, writer in (pair.partition("~") for pair in gains["variant"])]
        return min(gains.loc[own, "method"].value_counts(), default=0)

    @property
    def enough_read(self) -> bool:
        """Whether a single test of adapters could show anything."""
        return self.authors_read >= least_authors(1)

    @property
    def enough(self) -> bool:
        """Whether a single test could show anything with so many authors."""
        return self.authors >= least_authors(1)

    def name(self, method: str) -> str:
        """Return the printed name of a row."""
        return unmarked(method_name(method, self.display))

    def scores(self, metric: str, family: pd.DataFrame | None) -> pd.DataFrame:
        """Return the values of a metric by the judge: an index of methods in their order, a column per variant."""
        if family is None:
            return pd.DataFrame()
        own = family[(family["metric"] == metric) & family["encoder"].isin([self.encoder, ""])]
        found = own.pivot(index="method", columns="variant", values="value")
        return found.reindex([name for name in (*self.methods, "gold") if name in found.index])

    def passed(self) -> dict[str, tuple[int, int]]:
        """Return by row how many outputs passed the filter, and how many there are; nothing without ``kept``."""
        if self.kept is None:
            return {}
        own = self.kept[(self.kept["encoder"] == self.encoder) & (self.kept["variant"] == "score")]
        counts = own.pivot_table(index="method", columns="metric", values="n")
        places = ("kept_author_accuracy", SHARE)
        return {str(name): (int(row[places[0]]), int(row[places[1]])) for name, row in counts.iterrows()}


def compared(facts: Facts) -> pd.DataFrame:
    """Return the claims on the first row minus each other: columns of :func:`differences` and of :func:`settle`.

    The margin is that share of the way from chance to the lower limit of the authors' own texts.
    """
    first = subject(facts.methods)
    tested = differences(facts.evidence, facts.encoder, HEADLINE, first).set_index("rival")
    tested = tested[tested.index.isin(list(facts.methods))]
    gold = facts.scores(SHARE, facts.kept)
    low = float(gold["score_low"].get("gold", math.nan)) if "score_low" in gold else math.nan
    margin = facts.margin * (low - facts.chance) if low > facts.chance else math.nan
    claims = differences_apart(tested, margin, facts.authors)
    return tested.drop(columns="p_holm").assign(p_holm=claims["p"], within=claims["within"], state=claims["state"])


def attributed(facts: Facts) -> pd.DataFrame:
    """Return the claims on every method's share of outputs that go to the right author, against chance.

    Columns of :func:`rates_above`, share, share_low and share_high, and ``voice``: whether it is shown that the prompts
    do not carry it, which are the authors' own words: above chance on common prompts too, or, where there are none,
    above the base model on the same prompts. No rows without such scores.
    """
    found = facts.scores(SHARE, facts.kept)
    needed = ["score", "score_low", "score_high", *ENDS]
    found = found.reindex(columns=needed).dropna(subset=["score", "score_low"])
    rates = found.set_axis(["value", "low", "high", "share", "share_low", "share_high"], axis=1)
    own = rates[rates.index == "gold"][["value", "low", "high"]]
    rates = rates[rates.index != "gold"]
    ceiling = cast("Rate", tuple(map(float, own.iloc[0]))) if len(own) else None
    claims = rates_above(rates, facts.chance, facts.authors, ceiling, facts.margin)
    made = rates.join(claims)
    return made.assign(voice=(made["state"] == "above") & beyond_prompts(facts, made.index))


def beyond_prompts(facts: Facts, methods: pd.Index) -> pd.Series:
    """Return by method whether more is shown than the prompts may carry (:func:`attributed`)."""
    columns = ["score", "score_low", "score_high", "authors"]
    common = facts.scores(COMMON, facts.kept).reindex(index=methods, columns=columns)
    known = common["score"].notna()
    if known.any():
        rates = common.set_axis(["value", "low", "high", "authors"], axis=1)
        authors = int(rates.loc[known, "authors"].fillna(facts.authors).min())  # as authors_read counts them
        return rates_above(rates, facts.chance, authors)["state"] == "above"
    over = differences(facts.evidence, facts.encoder, HEADLINE, BASE).set_index("rival").reindex(methods)
    claims = settle(over["p"].astype(float), over["p"] * math.nan, -over["delta"].astype(float), facts.authors)
    return claims["state"] == "above"


def readings(facts: Facts) -> pd.DataFrame:
    """Return the claims on what every method's adapters know of unseen texts, by the attribution of each text.

    Columns value, low, high and chance, those of :func:`rates_above`, and ``known``: above chance, in a row that is
    shown to read its own authors better than the base: what is best at forgetting others knows nobody.
    """
    found = facts.scores("likelihood_top1", facts.likelihood).reindex(columns=[*ENDS, "chance"])
    rates = found.set_axis(["value", "low", "high", "chance"], axis=1).dropna()
    claims = rates_above(rates, rates["chance"], facts.authors_read)
    own = facts.scores("likelihood_own_gain", facts.likelihood).reindex(index=rates.index, columns=list(ENDS))
    ends = zip(own[""], own["low"], own["high"], strict=True)
    p = [p_of_limits(value, low, high, 0.0, facts.authors_read) for value, low, high in ends]
    better = settle(pd.Series(p, index=own.index, dtype=float), own[""] * math.nan, own[""], facts.authors_read)
    known = (claims["state"] == "above") & (better["state"] == "above") & (own["low"] > 0)
    return rates.join(claims).assign(known=known)


def gains_of(facts: Facts, method: str) -> dict[str, pd.Series]:
    """Return own, others', voice and neutral gain of a row's adapters: the value and its ends; NaN where there is none.

    A voice gain is own less others', so that it rises where others' texts are forgotten: all four are said together.
    """
    gains = {name: facts.scores(f"likelihood_{name}_gain", facts.likelihood) for name in _GAINS}
    return {name: found.reindex(index=[method], columns=list(ENDS)).iloc[0] for name, found in gains.items()}
