"""The audit: is the disparity real, who carries it, may the model ship."""

from evenhand.audit.auditing import audit, audit_evidence, audit_frame, audit_model
from evenhand.audit.evidence import Evidence
from evenhand.audit.finding import Finding, GroupValues
from evenhand.audit.result import Audit

__all__ = [
    "Audit",
    "Evidence",
    "Finding",
    "GroupValues",
    "audit",
    "audit_evidence",
    "audit_frame",
    "audit_model",
]
