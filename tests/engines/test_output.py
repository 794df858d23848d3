"""What Ray has to say about itself never gets into the answer of a command."""

from __future__ import annotations

import threading
from typing import Any

import pytest


def test_news_of_nodes_are_not_printed(
    ray_cluster: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ray._private import worker
    from ray._private.utils import publish_error_to_driver

    told, printing = threading.Event(), worker.print_to_stdstream

    def tell(*args: Any, **kwargs: Any) -> None:
        printing(*args, **kwargs)
        told.set()

    monkeypatch.setattr(worker, "print_to_stdstream", tell)
    publish_error_to_driver("node_died", "A node has died.", gcs_client=worker.global_worker.gcs_client)

    assert told.wait(60)
    assert capsys.readouterr() == ("", "")
