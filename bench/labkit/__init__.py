"""The lab: headrace and its peers, measured side by side.

Reading order: scenario (what is asked of a proxy), recipe (how a proxy is started), network, cgroups and
session (where the three sides live, and how all of it goes away again), measure (what a run costs), clients
(who makes the load), judge (which runs count), runner (the plan and one run of it), results (the CSV), layouts
and report, compare; cli holds them together.
"""
