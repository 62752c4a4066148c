"""Plans are those of the tests of the planner."""

from __future__ import annotations

from tests.plan.conftest import plan

__all__ = ["plan"]
