"""Employees on Ray: host actors that hold many of them each."""

from agents.workforce.ray.actors import Blueprint, RayNode, require_ray
from agents.workforce.ray.hosts import Hosts
from agents.workforce.ray.ports import Office
from agents.workforce.ray.workforce import RayWorkforce

__all__ = ["Blueprint", "Hosts", "Office", "RayNode", "RayWorkforce", "require_ray"]
