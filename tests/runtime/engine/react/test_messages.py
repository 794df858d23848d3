"""The requests of a conversation."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.canonical import clean, sha256
from runtime.engine.react.messages import request_sha256
from runtime.model.port import ModelRequest

MESSAGES = [{"role": "user", "content": "Grüße\n\ud800"}]


@pytest.mark.parametrize("tools", [(), ({"b": [1], "a": "ü"},), ({"b": 1}, {"c": None, "a": "\0"})])
def test_the_hash_of_a_request_is_that_of_the_whole_of_it(tools: Any) -> None:
    whole = {"role": "reason", "messages": MESSAGES, "tools": list(tools)}

    assert request_sha256(ModelRequest("reason", MESSAGES, tools)) == sha256(clean(whole))
