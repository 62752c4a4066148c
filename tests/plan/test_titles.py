"""Names that a table prints: every row and every encoder of an experiment has one of its own."""

import re

import pytest

from favor.foundation.errors import UserError


@pytest.mark.parametrize(
    ("methods", "encoders", "message"),
    [
        (
            {"again": {"method": "favor", "title": "FAVoR"}},
            {},
            "methods.again.title': 'FAVoR' is also the printed name of 'experiments.micro.methods.favor'",
        ),
        ({"again": {"method": "favor", "title": " Fed  Avg "}, "fedavg": {"title": "Fed Avg"}}, {}, "'Fed Avg' is als"),
        ({"again": {"method": "favor", "title": "FedDPA†"}}, {}, "'FedDPA' is also"),
        ({"favor": {"title": "Caf\u00e9"}, "fedavg": {"title": "Cafe\u0301"}}, {}, "is also the printed name"),
        ({"favor": {"title": "Reference: own continuations"}}, {}, "the printed name of a control of every table"),
        ({"favor": {"title": "FAVoR · ASCE"}}, {}, "give it words without '·'"),
        ({"favor": {"title": "Ditto\u200d"}, "ditto": {}}, {}, "'Ditto' is also the printed name"),
        ({"favor": {"title": "a\x07b"}}, {}, "methods.favor.title': holds a character that cannot be seen"),
        ({"favor": {"title": "Ditto\u200b"}}, {}, "holds a character that cannot be seen; type it again"),
        ({"favor": {"lambda_aling": 1}}, {}, "methods.favor.lambda_aling'; did you mean 'lambda_align'?"),
        ({"favor": {"lambda_align": "1e-3"}}, {}, "float, found '1e-3'; YAML reads it as text: write 2.0e-4 for 2e-4"),
        ({}, {"minilm": {"title": "a\x1bb"}}, "minilm.title': 'a\\x1bb' holds a character that cannot be seen"),
        ({"favor": {"title": " "}}, {}, "cannot be printed as a name"),
        ({"favor": {"title": "\ud800"}}, {}, "holds half a character; write it again"),
        ({"shared": {"method": "favor"}}, {}, "methods.shared': the name is taken; choose another"),
        ({"1favor": {"method": "favor"}}, {}, "a name is up to 64 lower-case letters"),
        ({"again": {"method": "../favor"}}, {}, "there is no '../favor'; did you mean 'favor'?"),
        ({"again": {"method": "outputs"}}, {}, "methods.again.outputs': name the file"),
        ({"again": {"method": "adapters"}}, {}, "methods.again.adapters': name the folder"),
        ({}, {"minilm": {"title": "Stylometry"}}, "'encoders.minilm'; change one"),
    ],
)
def test_a_row_that_cannot_be_run_or_told_from_another_is_refused(plan, methods, encoders, message) -> None:
    def change(config) -> None:
        config["experiments"]["micro"]["methods"] |= methods
        for name, section in encoders.items():
            config["encoders"][name] |= section

    with pytest.raises(UserError, match=re.escape(message)):
        plan(change=change)
