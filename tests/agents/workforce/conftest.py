"""What is said about a workforce holds wherever its employees sit: most tests here run once for each engine."""

from __future__ import annotations

import pytest

from tests.agents.workforce.company import Company

ONCE = frozenset({"test_random_trees"})
"""These say themselves where everybody sits; so do all that stand further below."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.path.parent.name == "workforce" and metafunc.definition.path.stem not in ONCE:
        metafunc.fixturenames.append("in_hosts")
        metafunc.parametrize("in_hosts", [False, True], ids=["inline", "hosts"], indirect=True)


@pytest.fixture
def in_hosts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Have every company of the test sit together, or in hosts."""
    spread: bool = request.param
    monkeypatch.setattr(Company, "in_hosts", spread)
    return spread
