"""All tasks. To add one: declare it in a file of its own, and name it here."""

from __future__ import annotations

from evenhand.datasets.acs import ACS_INCOME, ACS_INCOME_BINARY
from evenhand.datasets.adult import ADULT, ADULT_MULTIGROUP
from evenhand.datasets.communities import COMMUNITIES
from evenhand.datasets.compas import COMPAS, COMPAS_TWO_YEARS
from evenhand.datasets.enem import ENEM
from evenhand.datasets.hsls import HSLS
from evenhand.datasets.law_school import LAW_SCHOOL
from evenhand.datasets.simulated import SIMULATED, SIMULATED_MULTIGROUP, SIMULATED_REGRESSION
from evenhand.datasets.task import Task

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        ADULT,
        ADULT_MULTIGROUP,
        COMPAS,
        COMPAS_TWO_YEARS,
        HSLS,
        ENEM,
        ACS_INCOME,
        ACS_INCOME_BINARY,
        COMMUNITIES,
        LAW_SCHOOL,
        SIMULATED,
        SIMULATED_MULTIGROUP,
        SIMULATED_REGRESSION,
    )
}
