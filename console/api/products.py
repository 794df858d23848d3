"""Data products: what work delivered, to whoever may see the work."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import AwareDatetime, Field

from console.api.desk import Asking, AtDesk, query_of
from console.api.model import ApiModel
from console.ports_products import ProductsAsked
from console.views_products import LineageNode, ProductDetail, ProductHit, ProductLineage, ProductRow
from contracts import CardId, DataProduct, ExecutionId, Name, ProductId
from contracts.ids import ULID_PATTERN

routes = APIRouter(tags=["products"])
Whose = Annotated[Name | None, Query(description="Whose; may be left out where the token belongs to one organisation.")]
Kinds = Annotated[list[str] | None, Query(description="Of these kinds: report, decision, insight; may be repeated.")]
Since = Annotated[AwareDatetime | None, Query(description="Made from then on.")]
Until = Annotated[AwareDatetime | None, Query(description="Made before.")]
Newest = Annotated[bool, Query(description="Only the newest of each key.")]


class ProductShown(ApiModel):
    """One product."""

    product: DataProduct
    """What was delivered."""
    key: str = Field(examples=["report/explain-cancellations/report"])
    """The same for products that follow each other."""
    employee: Name
    """Who delivered it."""
    intent: str
    """What its order was to do."""
    says: str
    """The beginning of what it says."""

    @classmethod
    def of(cls, row: ProductRow) -> ProductShown:
        """Return it as the API gives it."""
        return cls(
            product=row.product, key=row.key, employee=row.employee, intent=row.intent, says=row.text[:_SAYS]
        )  # fmt: skip


class ProductList(ApiModel):
    """Products, newest first."""

    products: tuple[ProductShown, ...]
    """Each as it stands."""


class ProductHitShown(ApiModel):
    """One product that a search found."""

    product: ProductShown
    """It."""
    score: float
    """0 to 1, in this search."""
    parts: dict[str, float]
    """`words` (BM25) and `meaning` (cosine), where there is an embedder."""
    terms: dict[str, float]
    """Word of the question → its part."""

    @classmethod
    def of(cls, hit: ProductHit) -> ProductHitShown:
        """Return it as the API gives it."""
        return cls(product=ProductShown.of(hit.row), score=hit.score, parts=dict(hit.parts), terms=dict(hit.terms))


class ProductsFoundShown(ApiModel):
    """What a search came to."""

    hits: tuple[ProductHitShown, ...]
    """Best first."""


class ProductDetailShown(ApiModel):
    """One product with its page and its versions."""

    product: ProductShown
    """It."""
    versions: tuple[ProductId, ...]
    """Everything under its key, oldest first."""
    content: str | None = None
    """Its main file, where that is text and still there."""

    @classmethod
    def of(cls, detail: ProductDetail) -> ProductDetailShown:
        """Return it as the API gives it."""
        return cls(product=ProductShown.of(detail.row), versions=tuple(detail.versions), content=detail.content)


class LineageNodeShown(ApiModel):
    """One step of a lineage."""

    id: str
    """`ORDER/STEP`."""
    employee: Name
    """Who carried it out."""
    step: str
    """Its name in the plan."""
    use: str
    """The capability, or the skill that was delegated."""
    output_sha256: str = ""
    """Of what it gave."""
    query_sha256: str = ""
    """Of its query, script or template."""
    data_sha256: str = ""
    """Of the data it ran on."""
    metric: str = ""
    """The metric that it read."""
    metric_version: str = ""
    """Of the metric's definition."""
    deliveries: tuple[ProductId, ...] = ()
    """What was delivered in it."""
    card: CardId | None = None
    """What people were asked in it."""

    @classmethod
    def of(cls, node: LineageNode) -> LineageNodeShown:
        """Return it as the API gives it."""
        return cls(
            id=node.id, employee=node.employee, step=node.step, use=node.use, output_sha256=node.output_sha256,
            query_sha256=node.query_sha256, data_sha256=node.data_sha256, metric=node.metric,
            metric_version=node.metric_version, deliveries=tuple(node.deliveries), card=node.card,
        )  # fmt: skip


class LineageShown(ApiModel):
    """Where a product came from, and what was made of it."""

    product_id: ProductId
    """The product."""
    execution_id: ExecutionId
    """Its execution."""
    goal: str
    """What that was for."""
    organisation_sha256: str
    """Of the organisation's folder, as it was pinned."""
    skill: str
    """Of its order."""
    plan_sha256: str
    """Of the plan that its order carried out."""
    made_in: LineageNodeShown
    """The step in which it was made."""
    upstream: tuple[LineageNodeShown, ...]
    """What it rests on, sources first."""
    downstream: tuple[LineageNodeShown, ...]
    """What was made of it."""
    edges: tuple[tuple[str, str], ...]
    """From what was read to what was made of it."""

    @classmethod
    def of(cls, found: ProductLineage) -> LineageShown:
        """Return it as the API gives it."""
        return cls(
            product_id=found.product_id, execution_id=found.execution_id, goal=found.goal,
            organisation_sha256=found.organisation_sha256, skill=found.skill, plan_sha256=found.plan_sha256,
            made_in=LineageNodeShown.of(found.made_in),
            upstream=tuple(map(LineageNodeShown.of, found.upstream)),
            downstream=tuple(map(LineageNodeShown.of, found.downstream)), edges=tuple(found.edges),
        )  # fmt: skip


def _product_id(
    ulid: Annotated[
        str,
        Path(
            alias="product", pattern=ULID_PATTERN, description="The product: the part of its id after the slash.",
            examples=["01JB0000000000000000000PRD"],
        ),
    ],
) -> ProductId:  # fmt: skip
    return ProductId(f"{ProductId.KIND}/{ulid}")


OfProduct = Annotated[ProductId, Depends(_product_id)]
_SAYS = 1_000


@routes.get("/products", dependencies=[query_of("organisation", "kind", "since", "until", "newest", "limit", "key")])
async def list_products(
    desk: AtDesk,
    asking: Asking,
    *,
    organisation: Whose = None,
    kind: Kinds = None,
    since: Since = None,
    until: Until = None,
    newest: Newest = False,
    key: Annotated[str | None, Query(max_length=500, description="Only the newest of this key.")] = None,
    limit: Annotated[int, Query(ge=1, le=500, description="So many at most.")] = 50,
) -> ProductList:
    """List what work delivered, newest first."""
    folder, sight = await desk.home_of(organisation, asking), desk.application.sight(asking)
    if key is not None:
        detail = await desk.application.product_by_key(folder, key, sight=sight)
        return ProductList(products=(ProductShown.of(detail.row),))
    asked = ProductsAsked(tuple(kind or ()), {}, since, until, newest)
    rows = await desk.application.products(folder, asked, limit=limit, sight=sight)
    return ProductList(products=tuple(map(ProductShown.of, rows)))


@routes.get("/products/search", dependencies=[query_of("organisation", "q", "kind", "since", "until", "newest", "top")])
async def search_products(
    desk: AtDesk,
    asking: Asking,
    q: Annotated[str, Query(min_length=1, max_length=2_000, description="What is looked for, in words.")],
    *,
    organisation: Whose = None,
    kind: Kinds = None,
    since: Since = None,
    until: Until = None,
    newest: Newest = False,
    top: Annotated[int, Query(ge=1, le=100, description="So many at most.")] = 5,
) -> ProductsFoundShown:
    """Find the products that fit a question, and why these."""
    folder, sight = await desk.home_of(organisation, asking), desk.application.sight(asking)
    asked = ProductsAsked(tuple(kind or ()), {}, since, until, newest)
    hits = await desk.application.search_products(folder, q, asked, top=top, sight=sight)
    return ProductsFoundShown(hits=tuple(map(ProductHitShown.of, hits)))


@routes.get("/products/{product}", dependencies=[query_of("organisation")])
async def show_product(
    product: OfProduct, desk: AtDesk, asking: Asking, *, organisation: Whose = None
) -> ProductDetailShown:
    """Show one product with its page and its versions."""
    folder, sight = await desk.home_of(organisation, asking), desk.application.sight(asking)
    return ProductDetailShown.of(await desk.application.product(folder, product, sight=sight))


@routes.get("/products/{product}/lineage", dependencies=[query_of("organisation")])
async def product_lineage(
    product: OfProduct, desk: AtDesk, asking: Asking, *, organisation: Whose = None
) -> LineageShown:
    """Show where a product came from, and what was made of it."""
    folder, sight = await desk.home_of(organisation, asking), desk.application.sight(asking)
    async with desk.reading_much:
        return LineageShown.of(await desk.application.product_lineage(folder, product, sight=sight))


@routes.get(
    "/products/{product}/lineage.svg", dependencies=[query_of("organisation")], response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}, "description": "The lineage as a picture."}},
)  # fmt: skip
async def draw_lineage(product: OfProduct, desk: AtDesk, asking: Asking, *, organisation: Whose = None) -> Response:
    """Draw where a product came from, and what was made of it."""
    folder, sight = await desk.home_of(organisation, asking), desk.application.sight(asking)
    async with desk.reading_much:
        found = await desk.application.product_lineage(folder, product, picture=True, sight=sight)
    return Response(found.picture or b"", media_type="image/svg+xml")
