"""A knowledge folder as it was read: resident lines, an index and a log for each domain, and bodies.

knowledge/RESIDENT.md            what must hold in every turn, and where to look
knowledge/INDEX.md               entries of no domain
knowledge/DOMAIN/INDEX.md        entries of a business domain, for orders that have it
knowledge/DOMAIN/LOG.md          what happened there, newest first
knowledge/DOMAIN/newark-runways.md   a body
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memory.knowledge.body import Body, read_body
from memory.knowledge.faults import KnowledgeFault
from memory.knowledge.lines import ROOT, Entry, Imperative, index_lines, resident_lines

DOMAIN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
"""As names are everywhere: an order could never ask for another one."""
RESIDENT, INDEX, LOG = "RESIDENT.md", "INDEX.md", "LOG.md"
PENDING = f"{ROOT}/.pending.json"
"""A write that was interrupted; whoever writes next finishes it."""


@dataclass(frozen=True, slots=True)
class Section:
    """The index of one domain."""

    domain: str
    """Empty: of no domain, for everybody."""
    entries: Sequence[Entry] = ()
    log: Sequence[Entry] = ()
    """Newest first."""


@dataclass(frozen=True, slots=True)
class KnowledgeTree:
    """All of it."""

    imperatives: Sequence[Imperative] = ()
    addresses: Sequence[Entry] = ()
    """What the resident layer points to."""
    sections: Mapping[str, Section] = field(default_factory=dict)
    """Domain → its index."""
    bodies: Mapping[str, Body] = field(default_factory=dict)
    """By path below the organisation's folder."""

    def of(self, domains: Sequence[str]) -> list[Section]:
        """Return the sections of these domains and that of none."""
        return [self.sections[name] for name in ("", *dict.fromkeys(domains)) if name in self.sections]


def entries_of(tree: KnowledgeTree) -> Iterator[Entry]:
    """Yield every line that leads somewhere."""
    yield from tree.addresses
    for section in tree.sections.values():
        yield from section.entries
        yield from section.log


def dangling(tree: KnowledgeTree, texts: Mapping[str, str]) -> Iterator[KnowledgeFault]:
    """Yield the entries that lead nowhere."""
    for entry in entries_of(tree):
        if entry.path not in texts:
            hint = "Write it, or take the entry out."
            yield KnowledgeFault(entry.file, entry.line, f"`{entry.path}` is not there.", hint)


def is_knowledge(path: str) -> bool:
    """Whether a file of an organisation's folder belongs to its knowledge."""
    return path.startswith(f"{ROOT}/") and path.endswith(".md")


def domain_of(path: str) -> str:
    """Return the domain of a file, empty for one that lies directly in knowledge/."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else ""


def read_tree(texts: Mapping[str, str]) -> tuple[KnowledgeTree, list[KnowledgeFault]]:
    """Return the folder as far as it can be read, and what cannot.

    Args:
        texts: path below the organisation's folder → content, of its knowledge.
    """
    faults: list[KnowledgeFault] = []
    imperatives: list[Imperative] = []
    addresses: list[Entry] = []
    indexes: dict[str, list[Entry]] = {}
    logs: dict[str, list[Entry]] = {}
    bodies: dict[str, Body] = {}
    for path, text in sorted(texts.items()):
        depth, name = path.count("/"), path.rsplit("/", 1)[-1]
        if name in (INDEX, LOG) and depth <= 2:
            (indexes if name == INDEX else logs)[domain_of(path)] = list(index_lines(path, text, faults))
        elif name == RESIDENT and depth == 1:
            for line in resident_lines(path, text, faults):
                (addresses if isinstance(line, Entry) else imperatives).append(line)  # type: ignore[arg-type]
        elif name in (INDEX, LOG, RESIDENT):
            faults.append(
                KnowledgeFault(path, 0, f"{name} stands too deep.", "A domain is one folder: knowledge/DOMAIN.")
            )
        elif (body := read_body(path, text, faults)) is not None:
            bodies[path] = body
    faults += [
        KnowledgeFault(path, 0, f"`{domain_of(path)}` is no name of a domain.", "Small letters, digits and hyphens.")
        for path in texts
        if domain_of(path) and not DOMAIN.fullmatch(domain_of(path))
    ]
    domains = {*indexes, *logs, *map(domain_of, bodies)}
    sections = {each: Section(each, indexes.get(each, ()), logs.get(each, ())) for each in sorted(domains)}
    return KnowledgeTree(imperatives, addresses, sections, bodies), faults
