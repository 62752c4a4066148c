"""Make the tables of config/README.md from the models: ``python -m favor.config --write``.

Without ``--write``, say whether they differ. ``--schema`` prints the JSON schema of the configuration, for an editor.
"""

import argparse
import sys

from favor.config.reference import README, readme_text, schema_text

parser = argparse.ArgumentParser(prog="python -m favor.config", description=__doc__)
parser.add_argument("--write", action="store_true", help="write the tables instead of comparing them")
parser.add_argument("--schema", action="store_true", help="print the JSON schema, as YAML")
arguments = parser.parse_args()
if arguments.schema:
    sys.exit(print(schema_text(), end=""))
old = README.read_text(encoding="utf-8")
new = readme_text(old)
if arguments.write:
    README.write_text(new, encoding="utf-8")
elif new != old:
    sys.exit(f"{README} differs; run python -m favor.config --write")
