"""After release: is the model still even? Valid at every look."""

from evenhand.watch.status import Change, GroupRate, Status, WatchFinding
from evenhand.watch.watch import Watch

__all__ = ["Change", "GroupRate", "Status", "Watch", "WatchFinding"]
