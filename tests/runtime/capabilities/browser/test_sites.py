from __future__ import annotations

import pytest

from runtime.capabilities.browser.sites import Sites
from runtime.capabilities.connections import read_connection
from runtime.errors import InvalidArguments, PermissionRefused

SITES = Sites.of(
    {
        "faa": read_connection(
            {
                "kind": "http",
                "base": "https://www.faa.example",
                "pages": {"also": ["*.fly.example", "wiki.example:8080"]},
            }
        ),
        "wiki": read_connection(
            {"kind": "http", "base": "http://10.0.0.5:8000/wiki", "allow_private": True, "pages": {}}
        ),
        "closed": read_connection(
            {"kind": "http", "base": "https://closed.example", "operations": {"a": {"method": "GET", "path": "/"}}}
        ),
    },
    {},
)


@pytest.mark.parametrize(
    "url",
    [
        "https://www.faa.example/a?b=c#d",
        "https://WWW.FAA.example",
        "https://a.fly.example/",
        "http://a.b.fly.example/",
        "http://wiki.example:8080/",
        "http://10.0.0.5:8000/wiki",
    ],
)
def test_pages_of_declared_hosts_may_be_opened(url: str) -> None:
    SITES.require(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://closed.example/",
        "https://fly.example/",
        "https://evilfly.example/",
        "http://www.faa.example.evil.example/",
        "https://www.faa.example:8443/",
        "http://wiki.example/",
        "http://10.0.0.5/",
        "http://127.0.0.1/",
    ],
)
def test_other_hosts_and_ports_are_refused_with_what_there_is(url: str) -> None:
    with pytest.raises(
        PermissionRefused, match=r"There are: \*\.fly\.example, 10\.0\.0\.5:8000, wiki\.example:8080, www"
    ):
        SITES.require(url)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "chrome://crash",
        "javascript:alert(1)",
        "data:text/html,hello",
        "www.faa.example",
        "https://user:secret@www.faa.example/",
        "https://www.faa.example/\n",
        "https://www.faa.example:99999/",
        "https://[::1",
        "https://evil.example\\.fly.example/",
        "",
    ],
)
def test_what_is_no_address_of_a_page_is_refused(url: str) -> None:
    with pytest.raises(InvalidArguments, match="is not the address of a page"):
        SITES.require(url)


def test_without_a_declaration_nothing_may_be_opened() -> None:
    with pytest.raises(PermissionRefused, match="There are: none"):
        Sites([]).require("https://www.faa.example/")
