"""A made-up world to audit: rates drawn at random, and a document's parts that tell of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand import CRITERIA, MEASURES

Document = dict[str, Any]


class World:
    """Groups of made-up sizes that lean one way or the other, and what an audit says of them."""

    def __init__(self, labels: list[str], seed: int, gap: float) -> None:
        self.rng = np.random.default_rng(seed)
        self.labels, self.gap = labels, gap
        self.sizes = self.rng.lognormal(5.5, 1.2, len(labels)).astype(int) + 5
        self.lean = self.rng.normal(size=len(labels))
        self.findings: list[Document] = []

    def criterion(
        self,
        name: str,
        cells: list[str],
        rates: list[float],
        pull: float,
        transform: str | None = None,
        scale: float = 1.0,
    ) -> Document:
        drawn = [self._cell(c, r, pull, scale) for c, r in zip(cells, rates, strict=True)]
        for measure in ("mpd", "gini", "pq"):
            self.findings.append(self._finding(name, measure, drawn, transform))
        known = CRITERIA[name]
        bounds = [None if np.isinf(b) else b for b in known.statistic.bounds]
        told = {key: getattr(known, key) for key in ("name", "formula", "asks", "is_not", "range")}
        return told | {"statistic": known.statistic.formula, "bounds": bounds, "cells": drawn}

    def _cell(self, label: str, rate: float, pull: float, scale: float) -> Document:
        top = np.inf if scale > 1 else 0.99
        true = np.clip(rate + pull * self.gap * self.lean * scale, 0.01, top)
        noise = np.sqrt(rate / scale * 0.5 / self.sizes) * scale
        seen = np.clip(true + noise * self.rng.normal(size=len(true)), 0, top + 0.01)
        low, high = np.clip(seen - 1.96 * noise, 0, None), np.clip(seen + 1.96 * noise, 0, top)
        return {
            "label": label,
            "values": [round(v, 6) for v in seen.tolist()],
            "low": [round(v, 6) for v in low.tolist()],
            "high": [round(v, 6) for v in np.maximum(high, seen).tolist()],
            "overall": float(np.average(seen, weights=self.sizes)),
            "rows": self.sizes.tolist(),
        }

    def _finding(
        self, name: str, measure: str, cells: list[Document], transform: str | None
    ) -> Document:
        table = np.array([cell["values"] for cell in cells])
        values = np.array([float(MEASURES[measure](row)) for row in table])
        worst = int(values.argmax())
        value, row = float(values[worst]), table[worst]
        error = value * float(self.rng.choice([0.08, 0.3, 0.7]))
        beyond = value > 1.6 * error
        away = np.abs(row - row.mean()) ** 2
        top, bottom = int(row.argmax()), int(row.argmin())
        ends = {
            "high": {"group": self.labels[top], "value": float(row[top])},
            "low": {"group": self.labels[bottom], "value": float(row[bottom])},
        }
        return {
            "criterion": name,
            "measure": measure,
            "aggregate": "worst",
            "transform": transform if measure != "mpd" else None,
            "value": value,
            "low": max(value - 1.3 * error, 0.0),
            "high": value + 0.4 * error,
            "p_value": 0.0003 if beyond else 0.31,
            "p_error": 0.0 if beyond else 0.01,
            "p_adjusted": 0.0099 if beyond else 1.0,
            "verdict": "differs" if beyond else "cannot tell",
            "judged": None,
            "gap": {"value": value, "low": max(value - error, 0.0), "high": value + error},
            "margin": 0.05,
            "conclusion": "A made-up conclusion.",
            "tolerance": None,
            "worst_cell": cells[worst]["label"],
            "pair": {**ends, "cell": cells[worst]["label"]},
            "cell_values": [
                {"cell": cell["label"], "value": float(v)}
                for cell, v in zip(cells, values, strict=True)
            ],
            "contributions": (away / away.sum()).tolist(),
            "left_out": [],
            "sentence": f"{name.replace('_', ' ').capitalize()} by {measure}: a made-up sentence.",
        }

    def curve(self, at: Any, which: int, measure: str) -> list[float | None]:
        level = {"mpd": 0.3, "gini": 0.2, "pq": 0.08}[measure] * (1 + which / 3)
        values = level * (0.4 + at * (1.1 - at) * (1 + 0.3 * np.sin(5 * at + which)))
        return [None, *values[1:].tolist()]

    def distributions(self, of: str, at: Any) -> Document:
        shown = np.argsort(-self.sizes)[:50]
        middle, spread = at.mean(), np.ptp(at) / 7
        lean = self.lean[shown, None]
        levels = 1 / (1 + np.exp(-(at - middle - self.gap * 6 * spread * lean) / spread * 2))
        pooled = np.average(levels, axis=0, weights=self.sizes[shown])
        names = [self.labels[i] for i in shown]
        told = {"of": of, "at": at.tolist(), "groups": names}
        return told | {"levels": levels.round(4).tolist(), "pooled": pooled.tolist()}

    def document(self, task: str, classes: list[str], criteria: list[Document]) -> Document:
        weigh = self.sizes.astype(float).tolist()
        groups = [
            {"label": g, "rows": n, "weight": w}
            for g, n, w in zip(self.labels, self.sizes.tolist(), weigh, strict=True)
        ]
        return {
            "schema": "evenhand.audit/4",
            "evenhand": "0.1.0",
            "title": "A made-up model",
            "task": task,
            "rows": int(self.sizes.sum()),
            "weighted": False,
            "group_columns": ["sex", "race"],
            "groups": groups,
            "classes": classes,
            "favorable": None,
            "confidence": 0.95,
            "multiplicity": {"method": "Holm", "findings": len(self.findings), "level": 0.05},
            "provenance": {
                "date": "2026-01-31",
                "model": "A made-up model",
                "data": "0" * 64,
                "python": "3.13.0",
                "versions": {"evenhand": "0.1.0"},
            },
            "summary": self._summary(task, criteria),
            "scan": {"sentence": "All these bounds hold at once with 95% confidence."},
            "too_few": {"groups": [], "sentence": ""},
            "frontier": None,
            "why": None,
            "gate": None,
            "next": [
                {
                    "found": "Selection rates differ.",
                    "remedy": "Look at the threshold.",
                    "call": "eh.frontier(y_true, y_score, sensitive_features=groups)",
                    "cost": "12 more selected.",
                }
            ],
            "notes": ["2 groups have fewer than 30 rows; their rates scatter most."],
            "criteria": criteria,
            "findings": self.findings,
            "views": [self._view(columns) for columns in (["sex"], ["race"], ["sex", "race"])],
            "subgroups": [self._subgroup(i) for i in range(min(40, len(groups)))],
            "thresholds": None,
            "distributions": None,
        }

    def _summary(self, task: str, criteria: list[Document]) -> Document:
        rates = task != "regression"
        metric = {"key": "selection_rate", "name": "Selection rate", "meaning": "share selected"}
        values = self.rng.uniform(0.1, 0.6, len(self.labels))
        groups = [
            {"label": g, "rows": int(n), "values": [float(v)], "apart": [int(np.sign(v - 0.35))]}
            for g, n, v in zip(self.labels, self.sizes, values, strict=True)
        ]
        cell = criteria[0]["cells"][-1]
        columns = (self.labels, cell["rows"], cell["values"], cell["low"], cell["high"])
        keys = ("label", "rows", "value", "low", "high")
        return {
            "sentence": "A had about half the selection rate of B (7.0% against 26%).",
            "about": f"{int(self.sizes.sum()):,} rows in {len(self.labels)} groups by sex × race.",
            "claim": "This shows that the groups differ. It does not show why.",
            "counts": {},
            "headline": {
                "criterion": criteria[0]["name"],
                "name": "selection rate" if rates else "mean prediction",
                "metric": "selection_rate" if rates else None,
                "is_rate": rates,
                "overall": cell["overall"],
                "groups": [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)],
            },
            "table": {
                "of_class": "1" if rates else None,
                "metrics": [metric | {"is_rate": rates}],
                "groups": groups,
                "overall": {"rows": int(self.sizes.sum()), "values": [0.3]},
                "difference": [float(np.ptp(values))],
                "ratio": [float(values.min() / values.max())],
            },
            "impact_ratio": None,
            "criteria": [
                {
                    "name": criterion["name"],
                    "verdict": next(
                        f["verdict"] for f in self.findings if f["criterion"] == criterion["name"]
                    ),
                    "words": "at least 8.7 percentage points apart",
                    "short": "≥ 8.7 pts",
                    "judged": None,
                }
                for criterion in criteria
            ],
            "subgroups": [
                {
                    "label": self.labels[0],
                    "rows": int(self.sizes[0]),
                    "statistic": "selection rate",
                    "is_rate": True,
                    "value": 0.05,
                    "rest": 0.25,
                    "at_least": 0.08,
                }
            ],
        }

    def _view(self, columns: list[str]) -> Document:
        kept = ("criterion", "measure", "value", "p_value", "p_adjusted", "verdict")
        told = [{key: finding[key] for key in kept} for finding in self.findings]
        return {"columns": columns, "groups": 2 * len(columns) + 1, "findings": told}

    def _subgroup(self, rank: int) -> Document:
        difference = 0.2 - 0.01 * rank
        return {
            "columns": ["sex", "race"],
            "label": self.labels[rank],
            "rows": int(self.sizes[rank]),
            "counted": int(self.sizes[rank]),
            "rows_needed": 400.0,
            "too_few": False,
            "statistic": "selection rate of 1",
            "value": 0.25 - difference,
            "rest": 0.25,
            "difference": -difference,
            "at_least": max(difference - 0.12, 0.0),
            "people": int(self.sizes[rank] * difference),
            "flagged": difference > 0.12,
        }
