"""An audit in the browser, for people who do not program: `evenhand app`.

The page is served on this machine alone, and nothing leaves it. What a person chooses there are the
options of `evenhand audit`, and the report is its report.
"""
