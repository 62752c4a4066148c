"""Make the schema and the tables of config/README.md from the models: ``python -m favor.config --write``.

Without ``--write``, say which of them differ.
"""

import argparse
import sys

from favor.config.reference import README, SCHEMA, readme_text, schema_text

parser = argparse.ArgumentParser(prog="python -m favor.config", description=__doc__)
parser.add_argument("--write", action="store_true", help="write them instead of comparing them")
arguments = parser.parse_args()
made = {SCHEMA: schema_text(), README: readme_text(README.read_text(encoding="utf-8"))}
stale = [path for path, text in made.items() if path.read_text(encoding="utf-8") != text]
for path in stale:
    if arguments.write:
        path.write_text(made[path], encoding="utf-8")
    print(f"{path}: {'written' if arguments.write else 'differs; run python -m favor.config --write'}")
sys.exit(bool(stale) and not arguments.write)
