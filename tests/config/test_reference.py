"""The tables of config/README.md and the schema are what the models say, and reading the models loads nothing heavy."""

import yaml
from jsonschema import Draft202012Validator

from favor.config.reference import LISTS, README, TABLE, readme_text, schema_text, sections

STALE = "run python -m favor.config --write"


def test_the_schema_says_what_the_models_allow(repository) -> None:
    """What the models accept, the schema accepts; a wrong key, value or type it refuses."""
    schema = yaml.safe_load(schema_text())
    Draft202012Validator.check_schema(schema)
    demo = yaml.safe_load((repository / "config" / "config.yaml").read_text(encoding="utf-8"))
    allowed = Draft202012Validator(schema).is_valid
    assert allowed(demo)
    assert not allowed(demo | {"experimens": {}})
    assert not allowed(demo | {"results": 3})
    experiment = {"clients": 1}  # at least 2
    assert not allowed(demo | {"experiments": {name: old | experiment for name, old in demo["experiments"].items()}})


def test_the_readmes_tables_are_made_from_the_models_and_every_section_has_one() -> None:
    text = README.read_text(encoding="utf-8")
    assert text == readme_text(text), STALE
    names = sorted({*LISTS, *(model.__name__ for model in sections())})
    assert sorted(found[2] for found in TABLE.finditer(text)) == names


def test_a_table_shows_bounds_choices_and_defaults() -> None:
    text = readme_text("<!-- keys of Lora -->\nold\n<!-- end -->\n")
    assert "old" not in text
    assert "| `rank` | Rank of the adapters. | integer ≥ 1 | 16 |" in text
    assert "| `dropout` | Dropout on the adapter's input. | number ≥ 0, < 1 | 0.05 |" in text
    text = readme_text("<!-- keys of Experiment --><!-- end -->".replace("--><", "-->\n<"))
    assert "| `clients` | Number of clients of the corpus that take part; null takes all. | integer ≥ 2 or null" in text
    assert "| `corpus` | Corpus of the clients. | text | required |" in text
