"""What sections of the federation refuse: rows of methods, one another, and what would mean nothing."""

import pytest
import yaml
from tests.experiments import experiment
from tests.plan.conftest import *  # noqa: F403 - planners

from favor.config.resolve import resolve
from favor.federation.factors import Factors
from favor.federation.method import Mixture, PersonalStage, Plan, SharedStage
from favor.federation.row_plan import complete, load_method
from favor.federation.server_rule import ServerRule
from favor.federation.state_rule import StateRule
from favor.foundation.errors import UserError

FLIP, HIJACK = {"attack": {"kind": "flip", "share": 0.2}}, {"attack": {"kind": "hijack", "share": 0.2}}
CLIPPED = {"privacy": {"clip": 1.0, "noise_multiplier": 0.5}}
SUMMED, MEDIAN, RANKS = {"aggregation": "sum_only"}, {"robust": {"rule": "median"}}, {"ranks": [4, 16]}
MIXTURE, ELSEWHERE = "its mixture of two adapters needs .*", "its start at another experiment's adapter needs .*"


@pytest.mark.parametrize(
    ("row", "federation", "words"),
    [
        ("local_only", FLIP, "uploads nothing"),
        ("base_only", FLIP, "uploads nothing"),
        ("fedalt", FLIP, "uploads its personal adapter"),
        ("scaffold", FLIP, "uploads its delta and change of state, no update that"),
        ("global_asce", HIJACK, "own style"),
        ("flexlora", MEDIAN, "federation.robust' combines"),
        ("fedalt", MEDIAN, "federation.robust' combines"),
        ("fedex_lora", MEDIAN, "which 'federation.robust' combines into one"),
        ("scaffold", MEDIAN, "which 'federation.robust' combines into one"),
        ("flexlora", SUMMED, "its server rule 'svd' needs every upload"),
        ("flexlora", CLIPPED, "its server rule 'svd' needs every upload"),
        ("fedex_lora", SUMMED, "its server rule 'exact' needs every upload"),
        ("fedex_lora", CLIPPED, "its server rule 'exact' needs every upload"),
        ("scaffold", SUMMED, "state of server and clients needs every upload"),
        ("scaffold", CLIPPED, "state of server and clients needs every upload"),
        ("fedex_lora", {"server_learning_rate": 0.5}, "server_learning_rate: 1"),
        ("fedalt", {"server_learning_rate": 0.5}, "server_learning_rate: 1"),
        ("fedalt", {"upload_bits": 8}, "uploads its personal adapter and no update that could be rounded"),
        ("scaffold", {"upload_bits": 8}, "uploads its delta and change of state and no update that could be rounded"),
        ("fedex_lora", RANKS, "its server rule 'exact' needs .* 'federation.ranks: null'"),
        ("fedalt", RANKS, "its server rule 'members' needs .* 'federation.ranks: null'"),
        ("scaffold", RANKS, "its state of server and clients needs .* 'federation.ranks: null'"),
        *((row, RANKS, MIXTURE + "'federation.ranks: null'") for row in ("feddpa", "apfl", "fedrod_lora")),
        *((row, RANKS, ELSEWHERE + "'federation.ranks: null'") for row in ("cold_start", "cold_start_random")),
    ],
)
def test_a_row_that_a_section_cannot_hold_for_is_refused(row, federation, words) -> None:
    start = {"cold_start": {"shared_from": "other", "row": "fedavg"}} if row.startswith("cold") else {}
    load_method(row, {}, experiment(**start))
    with pytest.raises(UserError, match=rf"methods\.{row}.*{words}"):
        load_method(row, {}, experiment(federation=federation, **start))


STATE, EXACT = {"state": StateRule("favor.federation.methods.scaffold")}, {"server": ServerRule("exact")}
WHOLE, FROM_A_T = "whole adapters to be trained and uploaded", "start from A_t alone"


@pytest.mark.parametrize(
    ("made", "given", "words"),
    [
        (SharedStage, STATE | {"trains": Factors("B")}, WHOLE),
        (SharedStage, STATE | {"uploads": Factors("A")}, WHOLE),
        (SharedStage, STATE | {"server": ServerRule("svd")}, "a server that takes a mean"),
        (SharedStage, STATE | {"start": "own"}, FROM_A_T),
        (SharedStage, STATE | {"inner_steps": 2}, FROM_A_T),
        (SharedStage, EXACT | {"start": "own"}, FROM_A_T),
        (SharedStage, {"server": ServerRule("members")}, "clients that carry over"),
        (SharedStage, {"mixture": Mixture("token")}, "beside the server rule 'members'"),
        (PersonalStage, {"start": "own", "mixture": Mixture("token")}, "belongs to a shared stage"),
        *(
            (
                Plan,
                {"inference": "personal", "shared": SharedStage(**each), "personal": PersonalStage("own")},
                "no personal",
            )
            for each in (STATE, EXACT)
        ),
        (ServerRule, {"kind": "adam"}, "'tau' above 0"),
        (ServerRule, {"kind": "momentum", "beta1": 1.0}, "below 1"),
        (ServerRule, {"rate": 0.0}, "rate must be above 0"),
    ],
)
def test_parts_of_a_method_that_cannot_go_together_are_refused(made, given, words) -> None:
    with pytest.raises(ValueError, match=words):
        made(**given)


def test_a_state_of_a_method_without_equations_is_refused() -> None:
    elsewhere = Plan("server", SharedStage(state=StateRule("favor.federation.methods.fedavg")))
    with pytest.raises(ValueError, match=r"that of favor\.federation\.methods\.fedavg, which assigns no STATE"):
        complete(elsewhere, experiment())


def attack(**keys) -> dict[str, dict]:
    return {"attack": keys}


def privacy(**keys) -> dict[str, dict]:
    return {"privacy": {"clip": 1, "noise_multiplier": 1, **keys}}


@pytest.mark.parametrize(
    ("federation", "words"),
    [
        (attack(kind="hijak", share=0.5), "attack.kind.*hijack"),
        (attack(kind="flip", share=1.5), "attack.share"),
        (attack(kind="flip", share=0.6), "attack.share.*3 of 4 clients would attack, but 2 honest ones"),
        (attack(kind="hijack", share=0.5), "attack.share.*2 of 4 clients would attack, but 3 honest ones"),
        (attack(kind="scale", share=0.5), "attack.factor.*leaves the upload as it is"),
        (attack(kind="flip"), "attack.share"),
        ({"robust": {"rule": "krumm"}}, "'krumm'.*did you mean 'krum'"),
        ({"robust": {"rule": "norm_bound"}}, "robust.norm.*set it"),
        (MEDIAN | SUMMED, "robust.*sum_only"),
        (MEDIAN | privacy(noise_multiplier=0), "robust.*'privacy'"),
        (MEDIAN | {"weighting": "words"}, "weighting.*uniform"),
        (privacy(delta=0.25), r"privacy\.delta': 0\.25 would allow publishing one of 4 authors whole"),
        (privacy(delta=0), r"privacy\.delta"),
        (privacy() | {"weighting": "words"}, r"federation\.weighting': 'privacy' weights all uploads alike"),
    ],
)
def test_what_means_nothing_is_refused(federation, words, plan) -> None:
    with pytest.raises(UserError, match=words):
        plan(change=lambda config: config["experiments"]["micro"]["federation"].update(federation))


@pytest.mark.parametrize(
    ("key", "value", "beside", "message"),
    [
        ("upload_bits", 8, privacy(), "longer than the clip of 'privacy'"),
        ("upload_bits", 8, SUMMED, "whole numbers have no sum"),
        ("upload_bits", 8, attack(kind="flip", share=0.1), "which whole numbers do not hold"),
        ("upload_bits", 8, {"studies": {"privacy": {}}}, "reads uploads of 32 bits"),
        ("attack", FLIP["attack"], {"studies": {"privacy": {}}}, "'studies.privacy'"),
        ("attack", FLIP["attack"], {"withdrawn": ["client_001"]}, "'withdrawn'"),
        ("attack", FLIP["attack"], privacy(noise_multiplier=0), "norm_bound"),
        ("ranks", [2, 5], {}, "the largest is 5, and the server's adapter has 'lora.rank: 8'"),
        ("ranks", [2, 16], {}, "the largest is 16"),
        ("ranks", [2, 8], privacy(), "what no 'privacy' clipped"),
        ("ranks", [2, 8], SUMMED, "several shapes have no sum"),
        ("ranks", [2, 8], MEDIAN, "compares uploads number by number"),
        ("ranks", [2, 8], {"studies": {"privacy": {}}}, "reads uploads of one rank"),
    ],
)
def test_what_cannot_stand_beside_another_section_is_refused(key, value, beside, message, repository) -> None:
    beside = dict(beside)
    config = yaml.safe_load((repository / "config" / "config.yaml").read_text())
    demo = config["experiments"]["demo"]
    demo["studies"].pop("privacy", None)
    demo["federation"]["weighting"] = "uniform"
    demo["studies"] |= beside.pop("studies", {})
    demo |= {"withdrawn": beside.pop("withdrawn", [])}
    demo["federation"] |= beside
    resolve(config)  # which is accepted
    demo["federation"][key] = value
    with pytest.raises(UserError, match=rf"'experiments\.demo\.federation\.{key}'.*{message}"):
        resolve(config)
