"""Services that an OpenAPI document of the folder tells."""

from __future__ import annotations

from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read
from agents.organisation.opened import read_file
from agents.organisation.yaml_source import YamlSource
from runtime.capabilities.connections import OpenApiConnection
from runtime.capabilities.openapi.reading import completed, connection_of

_DOCUMENTS = (".json", ".yaml", ".yml")


def read_described(draft: Draft, name: str, connection: OpenApiConnection, source: YamlSource) -> None:
    """Note the connection with what its document says, and every fault of what is used of the document."""
    document = _document(draft, name, connection.openapi, source)
    if document is None:
        draft.unread.add(name)
        return
    made = completed(connection, document.value)
    source.faults += [source.fault((name, *each.place), each.what, each.hint) for each in made.in_entry]
    draft.faults += [document.fault(each.place, each.what, each.hint) for each in made.in_document]
    if made.operations.keys() != connection.operations.keys():
        draft.unread.add(name)
    if made.operations:
        draft.connections[name] = Read(connection_of(connection, made.operations), source)


def _document(draft: Draft, name: str, file: str, source: YamlSource) -> YamlSource | None:
    """Return the document, None after noting why it cannot be read."""
    if file not in draft.files.names():
        what = f"There is no file {file} in the organisation's folder."
        hint = "Documents are pinned with the folder, so they do not lie in data/." if file.startswith("data/") else ""
        hint = hint or nearest(file, (each for each in draft.files.names() if each.endswith(_DOCUMENTS)))
        source.faults.append(source.fault((name, "openapi"), what, hint))
        return None
    document = read_file(draft, file)
    if document is None:
        return None
    draft.faults += document.faults
    return document if not document.faults else None
