"""Models and adapters are those of the tests of training."""

from tests.lm.conftest import *  # noqa: F403 - fixtures
