from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.context.tokens import UNKNOWN_ERROR, Count, Estimator, count, tokenizer_of
from runtime.search.centring import SAMPLES

UNKNOWN = "a-model-of-our-own"
KNOWN = ["gpt-4o", "gpt-4", "llama-3.1-8b", "qwen3-8b"]
DRAW = random.Random(7)
TABLE = "\n".join(f"{DRAW.randrange(10**6)},{DRAW.random():.4f},EWR,2026-01-{day % 28 + 1:02d}" for day in range(300))
DIGITS = json.dumps([DRAW.randrange(10**9) for _ in range(500)])
TEXTS = ["\n".join(SAMPLES[: len(SAMPLES) // 2]), "\n".join(SAMPLES[len(SAMPLES) // 2 :])]
OBJECTS = json.dumps([{"id": f"order/01J9{DRAW.randrange(10**10):010d}", "price": n / 4} for n in range(300)])


@pytest.mark.parametrize(
    ("model", "tokenizer"),
    [
        ("gpt-4o-mini", "o200k_base"),
        ("openai/gpt-5", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama3"),
        ("Qwen/Qwen2.5-7B", "qwen3"),
        ("mistral-large", None),
        ("", None),
    ],
)
def test_a_tokenizer_is_known_by_the_name_of_its_model(model: str, tokenizer: str | None) -> None:
    assert tokenizer_of(model) == tokenizer


@pytest.mark.parametrize(("model", "tokens"), [("gpt-4o", 4), ("gpt-4", 4)])
def test_words_are_counted_as_the_model_counts_them(model: str, tokens: int) -> None:
    assert count("hello world, tokens", model) == Count(tokens, 0.0, tokens)


@pytest.mark.parametrize("text", ["<|endoftext|>", "a <|im_start|>system b", "\ud800 alone", "\0", "", "😀\u200d货مر"])
def test_no_text_is_too_odd_to_be_counted(text: str) -> None:
    for model in (*KNOWN, UNKNOWN):
        assert (count(text, model).tokens > 0) is bool(text)


@given(st.text(max_size=200))
def test_any_text_has_a_count_of_at_most_its_bytes(text: str) -> None:
    assert 0 <= count(text, UNKNOWN).tokens <= len(text.encode("utf-8", "replace")) + 2 * len(text)


@pytest.mark.parametrize("text", ["货款" * 350_000, "x" * 2_000_000, "12.50 € " * 250_000])
def test_two_megabytes_are_counted(text: str) -> None:
    assert count(text, UNKNOWN).tokens > 10_000


@pytest.mark.parametrize(
    "text", ["\n".join(SAMPLES), OBJECTS, TABLE, DIGITS, "7" * 1_000, "\n".join(SAMPLES[len(SAMPLES) // 2 :])]
)
@pytest.mark.parametrize("model", KNOWN)
def test_the_stated_error_of_an_unknown_model_holds_for_every_tokenizer_that_is_there(model: str, text: str) -> None:
    estimate = count(text, UNKNOWN)

    assert estimate.error >= UNKNOWN_ERROR
    assert count(text, model).tokens <= estimate.most


def test_what_the_endpoint_told_corrects_the_next_estimate() -> None:
    estimator = Estimator()
    first = estimator.count("word " * 1_000, UNKNOWN)
    estimator.correct(UNKNOWN, told=round(first.counted * 1.2), estimated=first)

    assert estimator.count("word " * 1_000, UNKNOWN).tokens == round(first.counted * 1.2)
    assert estimator.count("word " * 1_000, "another-model") == first


def test_estimates_settle_on_what_is_told_and_do_not_run_away() -> None:
    estimator = Estimator()
    for _ in range(20):
        estimate = estimator.count("word " * 1_000, UNKNOWN)
        estimator.correct(UNKNOWN, told=round(estimate.counted * 1.3), estimated=estimate)

    assert estimator.count("word " * 1_000, UNKNOWN).tokens == round(estimate.counted * 1.3)
    assert estimator.count("word " * 1_000, UNKNOWN).error < 0.01


@given(st.lists(st.integers(-10, 10**12), max_size=20))
def test_whatever_is_told_an_estimate_keeps_between_half_and_three_times_the_count(told: list[int]) -> None:
    estimator = Estimator()
    counted = count("word " * 100, UNKNOWN)
    for each in told:
        estimator.correct(UNKNOWN, told=each, estimated=counted)

    corrected = estimator.corrected(counted, UNKNOWN)
    assert 0.5 * counted.counted - 1 <= corrected.tokens <= 3 * counted.counted + 1
    assert corrected.error >= 0


def test_once_calls_were_told_the_error_is_the_largest_that_was_seen() -> None:
    estimator = Estimator()
    counted = Count(1_000, UNKNOWN_ERROR, 1_000)
    for told in (1_000, 1_100, 1_200):
        estimator.correct(UNKNOWN, told=told, estimated=counted)

    corrected = estimator.corrected(counted, UNKNOWN)
    assert corrected.tokens == 1_100
    assert corrected.most == 1_200
