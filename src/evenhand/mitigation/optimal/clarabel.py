"""Clarabel, where it is installed: an interior-point solver for cones."""

from __future__ import annotations

from typing import Any

from evenhand.mitigation.optimal.cones import Part


def clarabel() -> Any:
    """The solver's module, or how to get it."""
    try:
        import clarabel as solver
    except ImportError:
        raise ImportError(
            'Bounds on PQ need the solver Clarabel: pip install "evenhand[mitigation]"',
            name="clarabel",
        ) from None
    return solver


def cone_of(part: Part) -> Any:
    """A part of a product of cones, as the solver knows it."""
    solver = clarabel()
    if part.kind == "power":
        return solver.PowerConeT(part.exponent)
    if part.kind == "second order":
        return solver.SecondOrderConeT(part.size)
    return solver.NonnegativeConeT(part.size)


def quiet_settings(tolerance: float | None = None) -> Any:
    """One thread, no words, and this tolerance if not the solver's own."""
    settings = clarabel().DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    if tolerance is not None:
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    return settings
