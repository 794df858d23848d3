"""What every test shares."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Generator
from contextlib import suppress

import pytest
from hypothesis import settings

# No test judges how long something takes, and nobody's change fails by chance for what was there before it: examples
# are always the same, but where somebody looks for new ones (`make explore`).
settings.register_profile("house", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=500, print_blob=True)
settings.load_profile(os.environ.get("SILICON_TEST_EXAMPLES", "house"))
FAILED = pytest.StashKey[bool]()


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, as the product does."""
    return "asyncio"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note who failed."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let nobody fail for what a test that failed before left open: that is collected here, without a word.

    Its traceback holds its frames until the next test runs, so that the warnings, which are errors, would come there.
    """
    ran = yield
    if item.stash.get(FAILED, False):
        for name in ("last_type", "last_value", "last_traceback", "last_exc"):
            with suppress(AttributeError):
                delattr(sys, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gc.collect()
    return ran


def pytest_collection_finish() -> None:
    """Let the collector pass over what stays until the end: nine thousand tests, and what they import."""
    gc.collect()
    gc.freeze()
