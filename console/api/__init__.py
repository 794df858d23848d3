"""The HTTP API: executions, questions and events for people and programs that are somewhere else."""

from console.api.app import create_api, end_streams, ensure_first_token

__all__ = ["create_api", "end_streams", "ensure_first_token"]
