"""No secret passes into events, logs or screens."""

from __future__ import annotations

import time
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import OrderId
from runtime.canonical import Told
from runtime.telemetry import redaction
from runtime.telemetry.redaction import BLOT, holds_none, redact, register

EVENT = {
    "step": "measure",
    "index": None,
    "attempt": 1,
    "seconds": 0.123,
    "use": "flights.query",
    "output": {"rows": [{"carrier": "AA", "n": 12}, {"carrier": "UA", "n": 30}], "count": 2},
    "order_id": "order/01J9ABCDEFGHJKMNPQRSTVWXYZ",
    "result_sha256": "a1" * 32,
}


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Secrets registered by one test are unknown to the next."""
    monkeypatch.setattr(redaction, "_registered", set())
    monkeypatch.setattr(redaction, "_known", None)
    monkeypatch.setattr(redaction, "_harmless", set())


@pytest.mark.parametrize(
    "key",
    ["password", "Password", "api_key", "apiKey", "X-Api-Key", "authorization", "Authorization", "secret",
     "client_secret", "access_token", "db.password", "privateKey", "Set-Cookie", "credentials"],
)  # fmt: skip
def test_the_value_under_a_key_that_names_a_secret_is_blotted_out(key: str) -> None:
    assert redact({"deep": [{key: "value"}]}) == {"deep": [{key: BLOT}]}


@pytest.mark.parametrize("key", ["tokens", "tokens_in", "pass", "key", "secretary", "author", "monkey", "tokenised"])
def test_ordinary_keys_keep_their_values(key: str) -> None:
    assert redact({key: "value"}) == {key: "value"}


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abc123def456", "abc123def456"),
        ("basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA=="),
        ("key sk-proj-abcdefghijkl1234 used", "sk-proj-abcdefghijkl1234"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        ("AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "SyA1b2C3d4"),
        ("mysql+pymysql://root:p%40ss@127.0.0.1/x", "p%40ss"),
        ("https://h/p?token=abcdef123456&x=1", "abcdef123456"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "MIIE"),
        ("eyJhbGciOiJIUzI1.eyJzdWIiOiIx.c2lnbmF0dXJl", "eyJzdWIiOiIx"),
        ("password=hunter22", "hunter22"),
    ],
)
def test_text_in_the_shape_of_a_secret_is_blotted_out(text: str, secret: str) -> None:
    assert secret not in redact({"message": text})["message"]


@pytest.mark.parametrize(
    "text",
    [
        "basic statistics of all flights",
        "the bearer certificates were counted",
        "select token from account where token = account.token1",
        "token=read_token()",
        "the secret: nobody knows",
        "https://example.org:8080/path@2",
        "http://{user}:{password}@host",
        "desk-asia-pacific key figures",
    ],
)
def test_text_that_only_looks_like_one_at_a_glance_is_left_alone(text: str) -> None:
    assert redact(text) == text


def test_a_registered_secret_is_blotted_out_wherever_it_stands() -> None:
    assert redact("seen: correct-horse") == "seen: correct-horse"
    register(["correct-horse"])

    assert redact(["seen: correct-horse", {"x": ("correct-horse",)}]) == [f"seen: {BLOT}", {"x": (BLOT,)}]


def test_a_registered_secret_of_a_few_letters_is_passed_over() -> None:
    register(["the"])

    assert redact("the weather") == "the weather"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_redacting_twice_is_redacting_once(value: object) -> None:
    once = redact(value)

    assert redact(once) == once


suspects = st.sampled_from(
    ["correct-horse", "token", "apiKey", "Set-Cookie", "password=hunter22", "sk-proj-abcdefghijkl1234",
     "AKIAIOSFODNN7EXAMPLE", "http://me:word@host", "Bearer abc123def456",
     "-----BEGIN PRIVATE KEY-----\nMIIE", "eyJhbGciOiJIUzI1.eyJzdWIiOiIx.c2ln"]
)  # fmt: skip
texts = st.text() | suspects | st.builds("{}{}{}".format, st.text(max_size=3), suspects, st.text(max_size=3))
suspicious_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts | st.builds(OrderId.new),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(texts, inner, max_size=4)
        | st.dictionaries(texts, inner, max_size=2).map(MappingProxyType)
        | st.dictionaries(st.integers() | texts, inner, max_size=2)
    ),
    max_leaves=20,
)


@given(suspicious_values)
def test_a_value_that_is_said_to_hold_no_secret_is_what_redacting_makes_of_it(value: object) -> None:
    register(["correct-horse"])

    redacted = redact(value)

    assert not holds_none(value) or (repr(redacted) == repr(value) and redacted == value)
    if isinstance(value, dict | list) and redacted != value:
        assert not holds_none([{"deep": value}])


def test_what_was_told_once_is_looked_through_like_anything_else() -> None:
    told = Told({"note": "seen: correct-horse"})
    assert redact({"order": told})["order"] is told
    assert holds_none({"order": told})

    register(["correct-horse"])

    assert redact({"order": told}) == {"order": {"note": f"seen: {BLOT}"}}


def test_what_is_told_in_several_places_is_looked_through_once_for_each_secret_that_is_known() -> None:
    inner = Told({"note": "seen: correct-horse"})
    outer = Told({"plan": inner})
    assert holds_none(outer) and holds_none([inner])
    assert not holds_none({"token": inner, "order": outer}), "the key says what it is, whatever was found before"

    register(["correct-horse"])

    assert not holds_none({"order": outer}) and not holds_none([inner])
    assert redact([outer]) == [{"plan": {"note": f"seen: {BLOT}"}}]


def test_an_ordinary_event_is_seen_to_hold_no_secret_at_a_glance() -> None:
    assert holds_none(EVENT)
    assert not holds_none({**EVENT, "token": "value"})
    assert not holds_none({**EVENT, "output": {"rows": [{"note": "password=hunter22"}]}})


def test_a_ring_is_left_to_whoever_looks_longer() -> None:
    ring: dict[str, object] = {}
    ring["ring"] = ring

    assert not holds_none(ring)


def test_a_small_event_takes_less_than_twenty_microseconds() -> None:
    redact(EVENT)
    best = min(_cpu_seconds(500) for _ in range(20)) / 500

    assert best < 20e-6, f"{best * 1e6:.1f} µs"


def _cpu_seconds(times: int) -> float:
    before = time.process_time()
    for _ in range(times):
        redact(EVENT)
    return time.process_time() - before
