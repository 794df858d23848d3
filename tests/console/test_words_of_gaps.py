"""No word for a gap says that a number fell (case N2)."""

from __future__ import annotations

import re

import pytest

from console.texts import say_in

GAPS = ("metrics-missing", "metrics-not-yet-arrived", "summary-missing", "signal-no-data", "signal-not-enough-history")
FALLS = {"en": r"drop|fell|fall|declin|decreas|zero|none left|\b0\b", "zh": r"下降|减少|降至|零|0"}


@pytest.mark.parametrize("language", sorted(FALLS))
def test_what_is_not_there_is_called_so_and_nothing_else(language: str) -> None:
    say = say_in(language)
    told = [say(name) for name in GAPS]
    assert [words for words in told if re.search(FALLS[language], words, re.IGNORECASE)] == []
    assert len(set(told)) >= 4, "missing, late and too little history have words of their own"
