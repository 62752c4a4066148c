"""The logger ``snakemake --logger favor``, which the command ``favor`` starts Snakemake with.

Snakemake finds loggers by the names of packages, before it reads a Snakefile. So nothing here imports ``favor``: the
workflow of another clone would then run the code of this one.
"""

from snakemake_logger_plugin_favor.terminal import Terminal as LogHandler

__all__ = ["LogHandler"]
