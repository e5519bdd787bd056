"""Small tasks as data: each has an exact answer, `steadyrl.envs.finite` computes it."""

from typing import Final

from steadyrl.envs.domains import Domain, Parameter

SMALL_DOMAINS: Final = (
    Domain(
        id="steadyrl/TwoRoads-v0",
        entry_point="steadyrl.envs.two_roads:TwoRoads",
        summary="a week of commuting: every day the motorway or the side road, minutes to be lost",
        risky="the motorway: quicker on average, rarely jammed",
        risk_averse="share of days on the side road",
        parameters=(
            Parameter("days", 5, "days of an episode"),
            Parameter("jam", 0.1, "chance of a jam, each day anew"),
            Parameter("jam_minutes", 110, "minutes of the motorway in a jam"),
        ),
    ),
    Domain(
        id="steadyrl/Portfolio-v0",
        entry_point="steadyrl.envs.portfolio:Portfolio",
        summary="five units of money, of which 0 to 5 are in a wild asset, in calm and in storm",
        risky="wild units in a storm",
        risk_averse="share of quarters without",
        parameters=(
            Parameter("quarters", 12, "quarters of an episode"),
            Parameter("change", 0.2, "chance that the regime changes after a quarter"),
        ),
    ),
    Domain(
        id="steadyrl/Inventory-v0",
        entry_point="steadyrl.envs.inventory:Inventory",
        summary="order 0 to 10 pieces a week; what is left over and what is missing costs",
        risky="a stock that a rush would find too small",
        risk_averse="share of weeks with enough for one",
        parameters=(
            Parameter("weeks", 26, "weeks of an episode"),
            Parameter("rush", 0.07, "chance of a demand of 14, each week anew"),
        ),
    ),
    Domain(
        id="steadyrl/Betting-v0",
        entry_point="steadyrl.envs.betting:Betting",
        summary="ten coins, some rounds, stakes of none to five fifths of what there is",
        risky="a stake above Kelly's share, 2 win - 1",
        risk_averse="share of rounds without",
        parameters=(
            Parameter("rounds", 5, "rounds of an episode, at most 8"),
            Parameter("win", 0.6, "chance of each"),
        ),
    ),
    Domain(
        id="steadyrl/Cliff-v0",
        entry_point="steadyrl.envs.cliff:Cliff",
        summary="a walk along a windy cliff, where the edge is the shortest way",
        risky="moves made at the edge",
        risk_averse="share of moves elsewhere",
        parameters=(
            Parameter("wind", 0.02, "chance that the wind takes the step, towards the cliff"),
            Parameter("max_steps", 40, "moves after which an episode is truncated"),
        ),
    ),
)
"""From one state to two thousand."""
