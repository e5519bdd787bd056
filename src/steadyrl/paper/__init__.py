"""This paper: its studies with their settings, and what it claims of them. The library works without it.

A folder a study: presets (TOML), claims, and what else only that study needs. `steadyrl.paper.studies` has the table.
"""
