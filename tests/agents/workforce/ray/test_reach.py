"""An address at which no Ray answers is told as what it is, in the words it was typed in."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from agents.workforce.errors import RayUnavailable
from agents.workforce.ray.reach import address_given, require_answer

pytest.importorskip("ray", reason="Ray is not installed: pip install 'silicon-org[ray]'")


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of something that takes connections and says nothing; Ray gives up on it at once."""
    monkeypatch.setenv("RAY_gcs_rpc_server_connect_timeout_s", "0")
    monkeypatch.setenv("RAY_gcs_rpc_server_reconnect_timeout_s", "0")
    with socket.create_server(("", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("127.0.0.1:1", r":1 cannot be reached \(.*refused\)"),
        ("ray://127.0.0.1:1", r"127\.0\.0\.1:1 cannot be reached"),
        ("nonsense", "nvalid address"),
    ],
)
def test_where_nothing_listens_it_says_so(address: str, why: str) -> None:
    with pytest.raises(RayUnavailable, match=why) as raised:
        require_answer(address)

    assert raised.value.message.startswith(f"The Ray at {address} (RAY_ADDRESS) cannot be used: ")
    assert "\n" not in raised.value.message


def test_what_listens_there_and_is_no_ray_is_told_apart(silent: int) -> None:
    with pytest.raises(RayUnavailable, match="what listens there does not answer as a Ray"):
        require_answer(f"127.0.0.1:{silent}")


@pytest.mark.parametrize(("given", "address"), [("", ""), ("local", ""), ("auto", "auto"), ("head:6379", "head:6379")])
def test_a_ray_is_started_here_unless_an_address_is_given(
    monkeypatch: pytest.MonkeyPatch, given: str, address: str
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", given)

    assert address_given() == address
