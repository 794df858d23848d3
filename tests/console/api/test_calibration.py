from __future__ import annotations

import pytest

from tests.console.api.conftest import Served

pytestmark = pytest.mark.anyio


async def test_an_organisation_that_promised_nothing_has_an_empty_table(served: Served) -> None:
    execution = await served.submit()
    organisation = (await served.application.row(execution)).organisation
    async with served.client() as client:
        told = (await client.get("/calibration", params={"organisation": organisation})).json()
        nobody = await client.get("/calibration", params={"organisation": "nobody"})

    assert (told["organisation"], told["labels"], told["promises"], told["gaps"]) == (organisation, [], [], [])
    assert nobody.status_code == 404
