"""The audit: is the disparity real, who carries it, may the model ship."""

from evenhand._audit.api import audit, audit_evidence
from evenhand._audit.assertion import assert_even
from evenhand._audit.finding import Finding, GroupValues, Measured
from evenhand._audit.partial import PartialAudit, audit_unknown
from evenhand._audit.result import Audit
from evenhand._data.evidence import Evidence

__all__ = [
    "Audit",
    "Evidence",
    "Finding",
    "GroupValues",
    "Measured",
    "PartialAudit",
    "assert_even",
    "audit",
    "audit_evidence",
    "audit_unknown",
]
