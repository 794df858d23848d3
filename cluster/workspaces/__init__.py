"""Files by manifest: what steps leave in a slot, and the workspaces that employees own."""

from cluster.workspaces.order_files import OrderFiles, files_stream

__all__ = ["OrderFiles", "files_stream"]
