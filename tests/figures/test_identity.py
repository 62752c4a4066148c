"""A method looks the same in every figure, whichever other methods are shown."""

from favor.federation.row_plan import declared_method
from favor.figures.drawing import GREY
from favor.figures.identity import Methods, identities
from favor.paper.names import METHODS


def test_the_same_whatever_stands_beside_it() -> None:
    alone, among = identities(["feddpa"]), identities(METHODS)
    assert alone["feddpa"] == among["feddpa"]
    assert len(set(among.values())) == len(METHODS)
    assert [name for name, identity in among.items() if identity.prominent] == ["favor"]


def test_hue_says_whether_a_method_federates() -> None:
    trained = METHODS[: METHODS.index("cold_start")]
    for name, identity in identities(trained).items():
        assert (identity.color == GREY) == (not declared_method(name).federates)


def test_variants_are_hollow_and_stand_behind_their_method() -> None:
    found = identities(["feddpa_dynamic", "mine", "local", "favor", "feddpa"], {"feddpa_dynamic": "feddpa"}, ["local"])
    assert list(found) == ["feddpa", "feddpa_dynamic", "favor", "mine", "local"]
    assert found["feddpa_dynamic"].hollow
    assert not found["feddpa"].hollow
    assert (found["feddpa_dynamic"].color, found["feddpa_dynamic"].marker) == (found["feddpa"].color, "P")
    assert (found["mine"].color == GREY, found["local"].color == GREY) == (False, True)


def test_a_row_of_your_own_keeps_its_marker_when_others_are_left_out() -> None:
    methods = Methods(["first", "second", "favor"], {"second": "Mine"})
    assert methods.identities(["second"])["second"] == methods.identities(["first", "second"])["second"]
    assert list(methods.identities(["gold", "second", "favor"])) == ["favor", "second", "gold"]
    assert [methods.name(name) for name in ("second", "gold", "favor")] == ["Mine", "own continuations", "FAVoR"]
    assert Methods(["mine"], references=["mine"]).identities(["mine"])["mine"].color == GREY
