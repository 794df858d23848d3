from __future__ import annotations

from contracts import Effect, Money
from runtime.capabilities.connections import read_connection
from runtime.capabilities.web.specs import web_specs


def hosts(**declared: object) -> object:
    return read_connection({"kind": "hosts", "hosts": ["a.example"], **declared})


def test_reading_is_a_read_and_everything_else_passes_the_gate() -> None:
    assert {spec.name: spec.effect for spec in web_specs(())} == {"http.get": Effect.READ, "http.send": Effect.WRITE}


def test_a_request_costs_at_most_what_the_dearest_list_says_and_one_without_a_price_makes_it_unknown() -> None:
    dear, cheap, other = hosts(price="2 EUR"), hosts(price="1 EUR"), hosts(price="3 USD")

    assert web_specs([dear, cheap, other])[0].costs == (Money.parse("2 EUR"), Money.parse("3 USD"))
    assert web_specs([dear, hosts()])[0].costs is None
    assert web_specs([hosts(price="0 EUR")])[0].costs == ()
