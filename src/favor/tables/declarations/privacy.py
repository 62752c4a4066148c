"""What uploads and adapters give away, what defences take from an attacker, and what attackers do."""

import math
from collections.abc import Callable, Sequence

from favor.paper.names import METHODS, method_name
from favor.tables.cells import printed
from favor.tables.derived import missing, score_of
from favor.tables.escape import minus
from favor.tables.specs import POINT, Column, Derive, Derived, Roles, Row, Scores, TableSpec, one_panel, panel

NO_STATISTIC = "this attack has no such statistic"
VIEWS = {
    "upload": "each upload",
    "completed": "each upload, beside its owner's other half (upper bound)",
    "mean": "mean of the round",
    "final": "final shared adapter",
    "personal": "stolen personal adapter",
}
# Printed attack, metrics, and the views that it has.
ATTACKS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Whose is it?", "sender", ("upload", "completed", "personal")),
    ("Same client as before?", "link", ("upload",)),
    ("Did the author take part?", "member", ("mean", "final", "personal")),
    ("Was the text trained on?", "text", ("upload", "completed", "mean", "final", "personal")),
    ("The same by Min-K%++", "text_least", ("upload", "completed", "mean", "final", "personal")),
)


def methods_of(scores: Scores, metrics: Sequence[str]) -> list[str]:
    """Return the rows that have a score of ``metrics``, in name order."""
    return sorted(set(scores.loc[scores["metric"].isin(list(metrics)), "method"]))


def views_of(scores: Scores, method: str, metric: str, views: Sequence[str]) -> list[str]:
    """Return those of ``views`` that a row has: an upload is completed only where it changes nothing alone."""
    own = scores[(scores["method"] == method) & (scores["metric"] == metric)]["variant"]
    completed = own.str.startswith("completed").any()
    return [view for view in views if view != "completed" or completed]


def attack_column(
    name: Callable[[Row], tuple[str, str] | None], suffix: str = "", decimals: int = 2, interval: bool = False
) -> Derive:
    """Return what computes a column: a row's score of the metric and view that ``name`` gives, with its ``suffix``."""

    def derive(row: Row, scores: Scores, _roles: Roles) -> Derived:
        asked = name(row)
        if asked is None:
            return missing(NO_STATISTIC)
        metric, view = asked
        value, _, note = score_of(scores, metric, f"{view}{suffix}", NO_STATISTIC, method=row.method)
        if note:
            return missing(note)
        text = printed(value, decimals)
        if interval:
            low, high = (score_of(scores, metric, f"{view}_{end}", method=row.method)[0] for end in ("low", "high"))
            text += "" if math.isnan(low) else f" [{printed(low, decimals)}, {printed(high, decimals)}]"
        return Derived(minus(text), value)

    return derive


def audit_rows(scores: Scores) -> tuple[Row, ...]:
    """Return a row per audited method, attack and view."""
    return tuple(
        Row((method_name(method), attack, VIEWS[view]), method=method, group=f"{method} {attack}")
        for method in methods_of(scores, ("sender_top1",))
        for attack, name, views in ATTACKS
        for view in views_of(scores, method, f"{name}_auc", views)
    )


_METRICS = {attack: name for attack, name, _ in ATTACKS}
_VIEWS = {label: view for view, label in VIEWS.items()}


def _statistic(kind: str) -> Callable[[Row], tuple[str, str]]:
    """Return what names the metric of ``kind`` (top1, auc or tpr) and the view of a row."""
    return lambda row: (f"{_METRICS[row.stub[1]]}_{kind}", _VIEWS[row.stub[2]])


def _distinctive(row: Row) -> tuple[str, str] | None:
    """Name the correlation with how distinctive the authors are, which the final adapter's member scores have."""
    found = _statistic("distinctive")(row)
    return found if found == ("member_distinctive", "final") else None


def _counted(name: Callable[[Row], tuple[str, str]]) -> Derive:
    """Return what computes a column: how many decisions stand behind the score that ``name`` gives."""

    def derive(row: Row, scores: Scores, _roles: Roles) -> Derived:
        _, n, note = score_of(scores, *name(row), NO_STATISTIC, method=row.method)
        return missing(note) if note else Derived(f"{n:,}", float(n))

    return derive


PRIVACY_AUDIT = TableSpec(
    label="privacy-audit",
    title="Privacy audit",
    caption="How well an attacker does with what it has: each client's upload, the mean of a round's uploads (what "
    "secure aggregation leaves), the final shared adapter, or a personal adapter that it stole. An upload that changes "
    "nothing alone is read with the half that its owner kept: more than a server has. Top-1: how often its first "
    "choice is right. TPR at 1 % FPR: how much it finds while it is wrong about one in a hundred. 95 % intervals "
    "over authors; a TPR of fewer than 100 negatives, or 8 authors, has none. Shuffled: the same with the labels in "
    "random order, so what chance gives. "
    "0.5 is an AUC without information. With distinctiveness: Spearman's correlation, over those who took part, of "
    "what is found about an author and how unlike the other clients it writes. n: decisions behind the AUC.",
    stub_headers=("Method", "Attack", "What the attacker has"),
    row_source=audit_rows,
    panels=one_panel(
        Column("Top-1", derive=attack_column(_statistic("top1"), interval=True)),
        Column("By\nchance", derive=attack_column(_statistic("top1"), "_shuffled")),
        Column("AUC", derive=attack_column(_statistic("auc"), interval=True)),
        Column("AUC,\nshuffled", derive=attack_column(_statistic("auc"), "_shuffled")),
        Column("TPR at\n1 % FPR", derive=attack_column(_statistic("tpr"), interval=True)),
        Column("TPR,\nshuffled", derive=attack_column(_statistic("tpr"), "_shuffled")),
        Column("With\ndistinctiveness", derive=attack_column(_distinctive, interval=True)),
        Column("n", derive=_counted(_statistic("auc"))),
    ),
    sources=("privacy",),
    section="Privacy",
)

_SECRET, _CLIENT = "secret planted {} ×", "canary client"


def canary_rows(scores: Scores) -> tuple[Row, ...]:
    """Return a row per audited method, view and number of repeats, and one for its canary clients."""
    rows = []
    for method in methods_of(scores, ("canary_exposure", "empirical_epsilon")):
        own = scores[(scores["method"] == method) & (scores["metric"] == "canary_exposure")]
        initial = own["variant"].str.extract(r"^initial_(\d+)$")[0].dropna()
        title = method_name(method)
        for view in views_of(scores, method, "canary_exposure", ("upload", "completed", "mean", "final")):
            for repeats in sorted(map(int, initial)):
                rows.append(Row((title, VIEWS[view], _SECRET.format(repeats)), method=method, group=f"{method} {view}"))
        rows.append(Row((title, VIEWS["mean"], _CLIENT), method=method, group=f"{method} clients"))
    return tuple(rows)


def _exposure(initial: bool = False) -> Callable[[Row], tuple[str, str] | None]:
    """Return what names the exposure of a row's secret, or its exposure before any training."""

    def name(row: Row) -> tuple[str, str] | None:
        if row.stub[2] == _CLIENT:
            return None
        repeats = row.stub[2].split()[2]
        return "canary_exposure", f"{'initial' if initial else _VIEWS[row.stub[1]]}_{repeats}"

    return name


def _of_clients(metric: str) -> Callable[[Row], tuple[str, str] | None]:
    return lambda row: (metric, "mean") if row.stub[2] == _CLIENT else None


PRIVACY_CANARIES = TableSpec(
    label="privacy-canaries",
    title="Planted secrets and canary clients",
    caption="Exposure: by how many bits guessing a secret is shortened, log2 of the candidates over its rank among "
    "them. Before training: what the untrained adapter gives, which is chance. Canary clients upload a random "
    "direction as long as the median upload; the cosine is that of the direction with the server's movement, and ε "
    "says how well such cosines differ from those of canaries that took no part, at the δ of the guarantee: no "
    "less than this, with 95 % confidence. Beside it is what canaries that took no part give. Without noise ε has no "
    "bound: it grows with the number of parameters. 95 % intervals over clients, for exposure the exact ones of ranks "
    "that are all alike.",
    stub_headers=("Method", "What the attacker has", "Planted"),
    row_source=canary_rows,
    panels=one_panel(
        Column("Exposure\n(bits)", derive=attack_column(_exposure(), interval=True)),
        Column("Before\ntraining", derive=attack_column(_exposure(initial=True))),
        Column("By\nchance", derive=attack_column(_exposure(), "_shuffled")),
        Column("Most\npossible", derive=attack_column(_exposure(), "_most")),
        Column("Cosine", derive=attack_column(_of_clients("canary_cosine"), interval=True, decimals=3)),
        Column("Empirical ε,\nat least", derive=attack_column(_of_clients("empirical_epsilon"), decimals=1)),
        Column("ε by\nchance", derive=attack_column(_of_clients("empirical_epsilon"), "_shuffled", decimals=1)),
    ),
    sources=("privacy",),
    section="Privacy",
)


def _attack(header: str, metric: str, variant: str) -> Column:
    return Column(header, metric, method="fedavg", variant=variant, decimals=2, interval=True)


def _voice(header: str, metric: str, method: str) -> Column:
    return Column(header, metric, "style", method=method, decimals=2, interval=True)


PRIVACY_DEFENCES = TableSpec(
    label="privacy-defences",
    title="Defences",
    caption="What an attacker finds in FedAvg's uploads and shared adapter, and the voice that is kept, under each "
    "defence. Attacks as in the privacy audit; clipped uploads are attacked before noise is added, which the server "
    "does not have where it reads the sum only. Norm: the median L2 norm of the uploads as they are sent. Voice kept: "
    "0 is a voice that is nobody's and 1 the author's own, in margin (similarity to the own author minus the mean "
    "similarity to the others) and in generated-source AUC. 95 % intervals over authors.",
    stub_headers=("Defence",),
    rows=(Row((POINT,), method="fedavg"),),
    panels=(
        panel(
            "What is given away",
            Column("Norm of\nuploads", "upload_norm", method="fedavg", variant="upload", decimals=2),
            _attack("Whose is it?\nTop-1, each upload", "sender_top1", "upload"),
            _attack("Linked?\nTop-1, each upload", "link_top1", "upload"),
            _attack("Text trained on?\nAUC, each upload", "text_auc", "upload"),
            _attack("Text trained on?\nAUC, mean", "text_auc", "mean"),
            _attack("Author took part?\nAUC, final adapter", "member_auc", "final"),
            Column("Canary client\nε, at least", "empirical_epsilon", method="fedavg", variant="mean", decimals=1),
        ),
        panel(
            "Voice kept",
            _voice("FedAvg\nmargin", "kept_author_margin", "fedavg"),
            _voice("FAVoR\nmargin", "kept_author_margin", "favor"),
            _voice("FedAvg\nGen→Src AUC", "kept_generated_source_auc", "fedavg"),
            _voice("FAVoR\nGen→Src AUC", "kept_generated_source_auc", "favor"),
        ),
    ),
    sources=("voice_kept", "privacy"),
    section="Privacy",
    over_points=True,
)

WHEN = {"with them": "before", "made again without them": "after"}


def leaving_rows(scores: Scores) -> tuple[Row, ...]:
    """Return two rows per audited method: the adapter that those who left helped to make, and the one without them."""
    return tuple(
        Row((method_name(method), when), method=method, group=method)
        for method in methods_of(scores, ("leaver_auc",))
        for when in WHEN
    )


def _of_leavers(metric: str) -> Callable[[Row], tuple[str, str]]:
    return lambda row: (metric, WHEN[row.stub[1]])


PRIVACY_LEAVING = TableSpec(
    label="privacy-leaving",
    title="Before and after authors leave",
    caption="Did the author take part? Asked of the final shared adapter about authors who left, against authors who "
    "never took part: with the adapter that they helped to make, and with the one made again without them. The "
    "difference is by how much more the loss of their held-out texts fell from the untrained adapter than that of the "
    "others. After they left, an AUC of 0.5 and a difference of 0 are what is expected. 95 % intervals over authors. "
    "n: authors of both kinds, all seeds.",
    stub_headers=("Method", "Final shared adapter"),
    row_source=leaving_rows,
    panels=one_panel(
        Column("AUC", derive=attack_column(_of_leavers("leaver_auc"), interval=True)),
        Column("AUC,\nshuffled", derive=attack_column(_of_leavers("leaver_auc"), "_shuffled")),
        Column(
            "Difference\n(nats per token)", derive=attack_column(_of_leavers("leaver_fall"), interval=True, decimals=3)
        ),
        Column("n", derive=_counted(_of_leavers("leaver_auc"))),
    ),
    sources=("privacy",),
    section="Privacy",
)

POISONING = TableSpec(
    label="poisoning",
    title="Attacks on the shared adapter",
    caption="What clients' final models know of unseen texts, in nats per token over the base, while some clients "
    "attack. Authors are honest clients. Lost: their gain in the undisturbed run minus that here. Target: the author "
    "whose voice a hijack aims at. Turned: by how much the attack moved a client's model towards the target's texts "
    "and away from its own author's. Taken: share of authors whose client's model gains more on the target's texts "
    "than on theirs. In brackets 95 % intervals over authors, paired where two runs are compared.",
    stub_headers=("Rule and attackers", "Method"),
    rows=tuple(Row((POINT, method_name(key)), method=key, ranked=False) for key in METHODS),
    panels=(
        panel(
            "Voice kept",
            Column("Own gain", "poisoning_own_gain", interval=True),
            Column("Lost", "poisoning_lost", interval=True, signed=True),
        ),
        panel(
            "Success of a hijack",
            Column("Target's gain", "poisoning_target_gain"),
            Column("Turned", "poisoning_turned", interval=True, signed=True),
            Column("Taken", "poisoning_taken", decimals=2, interval=True),
        ),
    ),
    section="Privacy",
    over_points=True,
)
