"""The made-up report and what it is made of."""

from tests.reports import allocation, context, hostile, report, score, scores  # noqa: F401
