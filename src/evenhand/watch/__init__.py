"""Monitoring of a deployed model's disparities, with inference that is valid at every look."""

from evenhand.watch.status import Change, GroupRate, Status, WatchFinding
from evenhand.watch.watch import Watch

__all__ = ["Change", "GroupRate", "Status", "Watch", "WatchFinding"]
