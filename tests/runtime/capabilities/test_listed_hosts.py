from __future__ import annotations

import pytest

from runtime.capabilities.listed_hosts import ListedHost, covering, host_and_port, web_address
from runtime.errors import InvalidArguments

LISTED = [
    ListedHost(name, *host_and_port(text))
    for name, text in {
        "all": "*.example.org", "some": "*.data.example.org", "one": "a.data.example.org", "port": "example.org:8443",
    }.items()
]  # fmt: skip


@pytest.mark.parametrize(
    ("host", "port", "connection"),
    [
        ("a.data.example.org", 443, "one"),
        ("A.Data.Example.org", 80, "one"),
        ("b.data.example.org", 443, "some"),
        ("b.example.org", 443, "all"),
        ("b.example.org", 8443, None),
        ("example.org", 8443, "port"),
        ("example.org", 443, None),
        ("evilexample.org", 443, None),
    ],
)
def test_the_narrowest_entry_covers_a_host(host: str, port: int, connection: str | None) -> None:
    found = covering(LISTED, host, port)

    assert (found.connection if found else None) == connection


def test_an_address_that_a_browser_reads_otherwise_is_refused() -> None:
    with pytest.raises(InvalidArguments, match="is not an address"):
        web_address("https://evil.example\\.example.org/", otherwise="an address")
