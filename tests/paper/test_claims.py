"""The verdicts on the paper's claims, from studies of which it is known what they must be."""

import html
import json
from dataclasses import replace

import numpy as np
import pytest

from steadyrl.estimators import paper
from steadyrl.estimators.paper import MEASURES
from steadyrl.paper.blame import ESTIMATOR, LAMBDA, LAMBDA_AND_ESTIMATOR, MEASURE, NEITHER, UNKNOWN, WORSE
from steadyrl.paper.cheetah.claims import cheetah
from steadyrl.paper.evidence import more_than
from steadyrl.paper.judging import BY_RETURN, SPLIT, judge
from steadyrl.paper.lunarlander.claims import FIGURE_RATES, FIGURE_RETURNS, lunarlander
from steadyrl.paper.maze.claims import maze
from steadyrl.paper.maze.cost import arriving, going
from steadyrl.paper.pendulum.claims import pendulum
from steadyrl.paper.sensitivity.claims import sensitivity
from steadyrl.paper.studies import RECONSTRUCTION, claims_of
from steadyrl.report import study as report
from steadyrl.report.claims import Claim, write_claims
from steadyrl.studies import results
from tests.paper.synthetic import row, study
from tests.studies import small_study

BAD = {"rate": 0.5, "timeout": 0.5, "return": -50.0}
DIVERGED = {"status": "diverged"}
TRAPPED = {"rate": 0.0, "timeout": 1.0, "return": -95.0}
OTHERS = tuple(measure for measure in MEASURES if measure != "cvar_deviation")
FOUR = ("cvar_deviation", "gini_deviation", "mean_deviation", "semi_standard_deviation")
REST = tuple(measure for measure in MEASURES if measure not in FOUR)
UNSURE = "over all of these, seed by seed, it is not decided which estimator is better"
QUESTIONS = {
    "maze": maze, "sensitivity": sensitivity, "lunarlander": lunarlander, "pendulum": pendulum, "cheetah": cheetah,
}  # fmt: skip
STUDIES = tuple(QUESTIONS)


def of(measure, estimator=None, **fields):
    return {"measure": measure, **({} if estimator is None else {"estimator": estimator}), **fields}


QUICK = [(of("gini_deviation", noise="uniform"), {"after": 0.0})]
MAZE = [  # part of the claim, changes, holds, blame
    ("all but Variance", [], "yes", NEITHER),
    ("all but Variance", [(of("gini_deviation", "paper", noise="pareto"), BAD)], "partly",
     f"{ESTIMATOR} (Gini deviation)"),
    ("Gini deviation is stable", [], "yes", NEITHER),
    ("Gini deviation is stable", [(of("gini_deviation", "paper"), BAD)], "no", ESTIMATOR),
    ("Gini deviation is stable", [(of("gini_deviation"), BAD)], "no", MEASURE),
    ("Gini deviation is stable", [(of("gini_deviation", "paper", noise="uniform", seed=3), BAD)], "not decided",
     f"{UNKNOWN} (Uniform); {UNSURE}: if they did as these, about 39 seeds would"),
    ("Gini deviation is stable", [(of("gini_deviation", "paper", noise="uniform", seed=3), BAD),
     (of("gini_deviation", "influence", noise="pareto", seed=(0, 1, 2)), BAD),
     (of("gini_deviation", "influence", noise="uniform", seed=(4, 5, 6, 7)), BAD)], "not decided",
     f"{UNKNOWN} (Uniform); {UNSURE}: if they did as these, about 11 seeds would"),
    ("Mean deviation is stable", [(of("mean_deviation", "paper", noise="pareto", seed=3), BAD),
     (of("mean_deviation", "influence", noise="pareto", seed=(0, 1, 2, 3)), BAD),
     (of("mean_deviation", "influence", noise="uniform", seed=(4, 5)), BAD),
     (of("mean_deviation", "influence", noise="handcraft", seed=6), BAD)], "not decided",
     f"{UNKNOWN} (Pareto); over all of these, seed by seed, ours is worse"),
    ("Mean deviation is stable", [(of("mean_deviation", "paper", noise="pareto", seed=(0, 1)), BAD),
     (of("mean_deviation", "paper", noise="uniform", seed=(2, 3)), BAD),
     (of("mean_deviation", "paper", noise="handcraft", seed=(4, 5)), BAD)], "not decided",
     f"{UNKNOWN} (Pareto, Uniform, Handcraft); over all of these, seed by seed, the paper's is worse"),
    ("Gini deviation is stable", [(of("gini_deviation", "influence", noise="pareto"), BAD)], "yes",
     f"{WORSE} (Pareto)"),
    ("Mean deviation is stable", [(of("mean_deviation", noise="pareto"), BAD),
     (of("mean_deviation", "paper", noise="uniform"), BAD)], "partly", f"{ESTIMATOR} (Uniform); {MEASURE} (Pareto)"),
    ("CVaR deviation is stable", [(of("cvar_deviation"), {"status": "diverged"})], "no", MEASURE),
    ("CVaR deviation is stable", [(of("cvar_deviation", seed=(0, 1, 2)), {"status": "diverged"})], "not decided",
     f"{UNKNOWN}; over all of these, seed by seed, neither estimator is better"),
    ("CVaR deviation learns", [(of(OTHERS, "paper"), {"after": 0.5})], "yes", ""),
    ("CVaR deviation learns", [], "no", MEASURE),  # a tie is not faster
    ("CVaR deviation learns", [(of("cvar_deviation", "paper"), BAD), (of(OTHERS, "influence"), {"after": 0.5})], "no",
     ESTIMATOR),
    ("CVaR deviation learns", [(of(OTHERS, noise="pareto"), TRAPPED)], "partly",
     f"{MEASURE} (Gaussian, Uniform, Handcraft)"),
    ("Maze: Variance fails", [(of("variance"), TRAPPED)], "yes", MEASURE),
    ("Maze: Variance fails", [(of("variance", "paper"), TRAPPED)], "yes", ESTIMATOR),
    ("Semi-variance fails", [], "no", NEITHER),
    ("Semi-variance fails", [(of("semi_variance", noise="uniform"), BAD)], "partly", f"{MEASURE} (Uniform)"),
    ("Standard deviation does well", [(of("standard_deviation", noise=("pareto", "uniform")), BAD)], "yes", NEITHER),
    ("Standard deviation does well", [(of("standard_deviation", "paper"), BAD)], "no", ESTIMATOR),
    ("Standard deviation does well", [(of("standard_deviation", noise="handcraft"), BAD)], "partly",
     f"{MEASURE} (Handcraft)"),
    ("Maze: Standard deviation is weaker", [(of("standard_deviation", "paper", noise=("pareto", "uniform")), BAD)],
     "yes", ESTIMATOR),
    ("Maze: Standard deviation is weaker", [(of("standard_deviation", "paper"), BAD)], "cannot be judged", ""),
    ("Maze: Standard deviation is weaker", [(of("standard_deviation", seed=0), BAD)], "not decided", ""),
    ("Inter-quantile range is weaker", [(of("inter_quantile_range", noise="uniform"), {"rate": 0.94})], "partly",
     f"{MEASURE} (Uniform)"),
    ("Inter-quantile range is weaker", [(of("inter_quantile_range", noise="uniform"), {"rate": 0.96})], "no", NEITHER),
    # Episodes count as they are, whatever the learning rate: 15 rows are 1.5 times 10, 14 are not.
    ("Mean-median deviation is weaker", [(of("mean_median_deviation", noise="handcraft"), {"after": 0.5})], "partly",
     f"{MEASURE} (Handcraft)"),
    ("Mean-median deviation is weaker", [(of("mean_median_deviation", noise="handcraft"), {"after": 0.45})], "no",
     NEITHER),
    ("learn quickly", QUICK, "yes", ""),
    ("learn quickly", [], "partly", f"{MEASURE} (Gini deviation)"),  # a quarter of 5,000 updates is not one of 2,000
    ("learn quickly", [(of(OTHERS), BAD)], "partly", f"{MEASURE} (Gini deviation)"),
    ("learn quickly", [*QUICK, (of("gini_deviation", "paper", noise="pareto"), {"after": 0.5})], "partly",
     f"{ESTIMATOR} (Gini deviation)"),
    ("learn quickly", [*QUICK, (of("variance", noise="pareto"), {"return": -3.0})], "no", MEASURE),  # 10 is above 9.7
    ("learn quickly", [*QUICK, (of("variance", noise="pareto"), {"return": -5.0})], "yes", ""),
    ("Standard deviation performs better than Variance", [(of("variance"), BAD)], "yes", ""),
    ("Standard deviation performs better than Variance", [], "no", MEASURE),
    ("Semi-standard deviation performs better", [(of("semi_variance", "paper", noise="pareto"), BAD)], "partly",
     f"{MEASURE} (Gaussian, Uniform, Handcraft)"),
    ("penalising variability", [], "yes", NEITHER),
    ("penalising variability", [(of(MEASURES), {"return": -30.0})], "no", MEASURE),
    ("penalising variability", [(of("variance", "paper", noise="pareto"), {"return": -30.0})], "partly",
     f"{ESTIMATOR} (Variance on Pareto)"),
    ("penalising variability", [(of(MEASURES), TRAPPED)], "cannot be judged", ""),
]  # fmt: skip

SENSITIVITY = [
    ("similar for all but", [], "yes", ""),
    ("similar for all but", [(of("inter_quantile_range"), BAD)], "partly", f"{MEASURE} (Inter-quantile range)"),
    ("broad range in the learning rate", [(of((*REST, "gini_deviation")), BAD)], "yes", ""),
    ("broad range in the learning rate", [], "no", MEASURE),  # as broad is not broader
    ("broad range in the learning rate", [(of((*REST, "gini_deviation"), policy_rate=(7e-5, 1e-4)), BAD),
     (of("mean_deviation", "paper", policy_rate=(7e-5, 1e-4)), BAD)], "partly", f"{ESTIMATOR} (Mean deviation)"),
    ("broad range in the lambda", [(of(REST), BAD), (of("mean_deviation"), BAD)], "yes", ""),
    ("broad range in the lambda", [(of((*REST, "mean_deviation"), "influence"), BAD)], "no", ESTIMATOR),
    ("comes next in lambda", [(of("gini_deviation", lam=1.5), BAD), (of((*REST, "mean_deviation")), BAD)], "yes", ""),
    ("comes next in lambda", [(of("gini_deviation", lam=1.5), BAD)], "no", MEASURE),
    ("very narrow in lambda", [(of("inter_quantile_range", "paper"), BAD)], "yes", ESTIMATOR),
    ("very narrow in lambda", [(of("inter_quantile_range"), BAD)], "yes", MEASURE),
    ("very narrow in lambda", [], "no", NEITHER),
]  # fmt: skip

FIGURE = [(of(measure), {"rate": FIGURE_RATES[measure], "return": FIGURE_RETURNS[measure]}) for measure in MEASURES]
LUNARLANDER = [
    ("left rate above 0.8", [], "yes", NEITHER),
    ("left rate above 0.8", [(of("gini_deviation", "paper"), {"rate": 0.7})], "partly",
     f"{ESTIMATOR} (Gini deviation)"),
    ("left rate above 0.8", [(of(FOUR), {"rate": 0.8})], "no", MEASURE),
    ("slightly higher", [(of(("gini_deviation", "semi_standard_deviation")), {"rate": 0.9})], "yes", ""),
    ("slightly higher", [], "no", MEASURE),
    ("left rate of Inter-quantile range is below", [(of("inter_quantile_range", "paper"), {"rate": 0.9})], "yes",
     ESTIMATOR),
    ("left rate of Inter-quantile range is below", [(of("inter_quantile_range"), {"rate": 0.9})], "yes", MEASURE),
    ("left rate of Inter-quantile range is below", [(of(("inter_quantile_range", "gini_deviation"), "paper"),
     {"rate": 0.9})], "no", NEITHER),
    ("return of Inter-quantile range is below", [(of("inter_quantile_range"), {"return": -20.0})], "yes", MEASURE),
    ("LunarLander: left rate below", [(of(REST), {"rate": 0.55})], "yes", MEASURE),
    ("LunarLander: left rate below", [(of("standard_deviation", "paper"), {"rate": 0.55})], "partly",
     f"{ESTIMATOR} (Standard deviation)"),
    ("LunarLander: left rate below", [(of(REST), {"rate": 0.65})], "no", NEITHER),
    ("learn neither", [(of(("variance", "semi_variance")), {"rate": 0.0})], "yes", MEASURE),
    ("learn neither", [], "no", NEITHER),
    ("has no high return", [(of("standard_deviation"), {"return": -20.0})], "yes", MEASURE),
    ("more robust", [(of("standard_deviation"), {"return": -20.0, "rate": 0.4})], "yes", ""),
    ("has a higher left rate than", [(of(("mean_median_deviation", "standard_deviation")), {"rate": 0.4})], "yes", ""),
    ("final return is that", FIGURE, "yes", ""),
    ("final return is that", [*FIGURE, (of("variance", "paper"), {"return": 0.0})], "partly",
     f"{ESTIMATOR} (Variance)"),
    ("final left rate is that", FIGURE, "yes", ""),
    ("final left rate is that", [], "no", MEASURE),
    ("perform better than", [(of(("variance", "semi_variance")), {"return": -120.0})], "yes", ""),
    ("perform better than", [(of("variance"), {"return": -120.0})], "partly", f"{MEASURE} (Semi-standard deviation)"),
    ("return stays at 250", [(of(MEASURES), {"return": 240.0})], "no", MEASURE),
    ("left rate stays at 0.8", [(of(MEASURES), {"rate": 0.7})], "no", MEASURE),
    ("first landings are after", [(of(MEASURES), {"rate": 0.0})], "no", MEASURE),
    ("left rate stays at 0.5", [(of(MEASURES), BAD), (of(MEASURES), {"rate": 0.2})], "no", MEASURE),
]  # fmt: skip

PENDULUM = [
    ("comparable returns", [(of(FOUR), {"return": 250.0}), (of("gini_deviation"), {"return": 230.0})], "yes", ""),
    ("comparable returns", [(of(FOUR), {"return": 250.0}), (of("gini_deviation", "paper"), {"return": 220.0})],
     "partly", f"{ESTIMATOR} (Gini deviation)"),
    ("comparable returns", [(of(FOUR), {"return": 250.0}), (of("gini_deviation"), {"return": 220.0})], "partly",
     f"{MEASURE} (Gini deviation)"),
    ("Gini deviation becomes risk-averse more slowly", [(of("gini_deviation"), {"after": 0.5})], "yes", ""),
    ("Gini deviation becomes risk-averse more slowly", [], "no", NEITHER),
    ("has high returns sooner", [(of("mean_median_deviation"), {"return": 250.0})], "yes", ""),
    ("has high returns sooner", [], "no", MEASURE),
    ("is not risk-averse", [(of("mean_median_deviation", "paper"), {"rate": 0.8})], "yes", ESTIMATOR),
    ("is not risk-averse", [(of("mean_median_deviation"), {"rate": 0.8})], "yes", MEASURE),
    ("is not risk-averse", [], "no", NEITHER),
    ("less risk-averse", [(of("standard_deviation"), {"rate": 0.9})], "yes", MEASURE),
    ("fluctuates", [(of(MEASURES), {"wobble": 0.02}), (of("standard_deviation", "paper"), {"wobble": 0.05})], "yes",
     ESTIMATOR),
    ("fluctuates", [(of(MEASURES), {"wobble": 0.02}), (of("standard_deviation"), {"wobble": 0.05})], "yes", MEASURE),
    ("fluctuates", [(of(MEASURES), {"wobble": 0.02}), (of("standard_deviation"), {"wobble": 0.03})], "no", NEITHER),
    ("in the end", [], "yes", NEITHER),
    ("learns slowly", [(of("inter_quantile_range", "paper"), {"after": 0.6})], "yes", ESTIMATOR),
    ("learns slowly", [(of("inter_quantile_range"), {"rate": 0.5})], "yes", MEASURE),
    ("learns slowly", [(of("inter_quantile_range"), {"after": 0.3})], "no", NEITHER),
    ("fail to learn", [(of(("variance", "semi_variance")), BAD)], "yes", MEASURE),
]  # fmt: skip

NEUTRAL = {"lam": 0.0}
CHEETAH = [
    ("higher return than", [(NEUTRAL, {"return": -75.0})], "yes", NEITHER),
    ("higher return than", [(NEUTRAL, {"return": 0.0})], "no", MEASURE),
    ("higher return than", [(NEUTRAL, {"return": -75.0}), (of("gini_deviation", "paper"), {"return": -95.0})],
     "partly", f"{ESTIMATOR} (Gini deviation)"),
    ("higher risk-averse rate than", [(NEUTRAL, {"rate": 0.5})], "yes", NEITHER),
    ("higher risk-averse rate than", [], "no", MEASURE),
    ("are no better", [], "yes", MEASURE),
    ("do not differ", [], "yes", ""),
    ("do not differ", [(of("gini_deviation"), {"return": 50.0})], "no", MEASURE),
    ("has the highest mean return", [(of("cvar_deviation"), {"return": 100.0})], "yes", ""),
    ("has the highest mean return", [(of("cvar_deviation", "influence"), {"return": 100.0}),
     (of("gini_deviation", "paper"), {"return": 200.0})], "no", ESTIMATOR),
    ("has the highest mean return", [(of("variance"), {"return": 200.0})], "no", MEASURE),
    ("has the highest mean risk-averse rate", [(of(MEASURES), {"rate": 0.5}),
     (of("inter_quantile_range"), {"rate": 1.0})], "yes", ""),
    ("has the highest mean risk-averse rate", [(of("inter_quantile_range"), {"rate": 0.2})], "no", MEASURE),
    ("follow in risk-averse rate", [(of(MEASURES), {"rate": 0.4}), (of(("gini_deviation", "cvar_deviation")),
     {"rate": 0.6}), (of("inter_quantile_range"), {"rate": 0.9})], "yes", ""),
    ("follow in risk-averse rate", [(of(MEASURES), {"rate": 0.4}), (of("gini_deviation"), {"rate": 0.6}),
     (of("inter_quantile_range"), {"rate": 0.9}), (of("cvar_deviation"), {"rate": 0.3})], "partly",
     f"{MEASURE} (CVaR deviation)"),
    ("are not as strong here", [(of(("mean_deviation", "semi_standard_deviation")), {"rate": 0.4})], "yes", MEASURE),
    ("are not as strong here", [(of("mean_deviation", "paper"), {"rate": 0.4})], "partly",
     f"{ESTIMATOR} (Mean deviation)"),
    ("are not as strong here", [], "no", NEITHER),
]  # fmt: skip

SCENARIOS = [
    pytest.param(name, *row, id=f"{name}-{row[0]}-{row[2]}-{i}")
    for name, rows in zip(STUDIES, (MAZE, SENSITIVITY, LUNARLANDER, PENDULUM, CHEETAH), strict=True)
    for i, row in enumerate(rows)
]


@pytest.mark.parametrize(("name", "part", "changes", "holds", "blame"), SCENARIOS)
def test_verdict_and_blame(name, part, changes, holds, blame):
    results = study(name, changes)
    (question,) = (one for one in QUESTIONS[name](results) if part in one.claim)
    claim = judge(results, question)
    assert (claim.holds, claim.blame) == (holds, blame), claim.measured


OTHER_READING = [  # part of the claim, changes, holds, by the other reading
    ("Semi-standard deviation is stable", [(of("semi_standard_deviation", BY_RETURN, noise="uniform"), BAD)], "yes",
     "partly"),
    ("Semi-standard deviation is stable", [(of("semi_standard_deviation", "paper"), BAD)], "no", "yes"),
    ("Standard deviation is weaker", [(of("standard_deviation", BY_RETURN), BAD)], "no", "cannot be judged"),
    ("Gini deviation is stable", [], "yes", ""),  # it has but one reading
    ("CVaR deviation learns", [(of(OTHERS, "paper"), {"after": 0.5})], "yes", "no"),
    ("penalising variability", [(of(SPLIT, BY_RETURN), TRAPPED)], "yes", "yes"),  # never arriving is no cost
    ("penalising variability", [(of("variance", BY_RETURN, noise="pareto"), {"return": -30.0})], "yes", "partly"),
]  # fmt: skip


@pytest.mark.parametrize(("part", "changes", "holds", "other"), OTHER_READING)
def test_one_reading_decides_and_the_other_is_shown(part, changes, holds, other):
    found = row(claims_of(study("maze", changes)), part)
    assert (found.holds, found.other) == (holds, other)
    assert ("By the other reading:" in found.measured) == bool(other)


def test_without_the_other_reading_the_verdicts_are_the_same():
    whole = claims_of(study("maze"))
    alone = claims_of(study("maze", keep=lambda config: config.mean_part == "reinforce"))
    assert [(claim.holds, claim.blame) for claim in whole] == [(claim.holds, claim.blame) for claim in alone]
    assert any(claim.other for claim in whole)
    assert not any(claim.other for claim in alone)


def test_the_measures_with_two_readings_are_those_whose_estimators_leave_the_gradient_of_the_mean_open():
    returns = np.random.default_rng(0).normal(size=20)
    assert sorted(SPLIT) == sorted(measure for measure in MEASURES if paper.parts(measure, returns).of_mean.any())


@pytest.mark.parametrize("name", STUDIES)
def test_a_quick_look_decides_nothing(name):
    shorter = [replace(run, config=run.config.replace(updates=run.config.updates - 1)) for run in study(name).runs]
    for claim in claims_of(replace(study(name), runs=tuple(shorter))):
        assert (claim.holds, claim.blame) == ("not decided", "")
        assert "a quick look" in claim.measured
        assert "updates, of" in claim.measured


@pytest.mark.parametrize("name", ["maze", "lunarlander"])
def test_three_seeds_decide_little_and_it_is_said_how_many_would(name):
    claims = claims_of(study(name, seeds=3))
    assert "yes" not in {claim.holds for claim in claims}
    assert sum(claim.holds == "not decided" for claim in claims) > len(claims) / 2
    steady = row(claims, "Gini deviation is stable" if name == "maze" else "left rate above 0.8")
    assert steady.holds == "not decided"
    assert f"Not decided: if they did as these, about {10 if name == 'maze' else 6} seeds would" in steady.measured


def test_a_premise_that_is_not_decided_says_how_many_seeds_would():
    claims = claims_of(study("maze", [(of("standard_deviation", seed=0), BAD)]))
    weak = row(claims, "Maze: Standard deviation is weaker")
    assert weak.holds == "not decided"
    assert weak.measured.endswith("Not decided (what must be so first): if they did as these, about 15 seeds would")


def test_where_most_seeds_never_get_there_it_is_said_how_many_would_show_it():
    some = [(of(MEASURES), {"return": 300.0}), (of(MEASURES, "paper", seed=tuple(range(8))), {"return": 240.0})]
    claim = row(claims_of(study("lunarlander", some)), "return stays at 250")
    assert claim.holds == "not decided"
    assert claim.measured.endswith(f"if they did as these, about {more_than(8, 10, 0.5).needed} seeds would")


def test_shares_have_their_exact_intervals():
    claim = row(claims_of(study("maze")), "Gini deviation is stable")
    assert claim.measured.startswith("each 1.00 (10 of 10 seeds [0.69, 1.00])")


@pytest.mark.parametrize("name", STUDIES)
def test_without_the_papers_estimator_nothing_is_tested_and_without_ours_nobody_knows_whose_fault_it_is(name):
    assert {claim.holds for claim in claims_of(study(name, estimators=("influence",)))} == {"not decided"}
    changes = [(of(MEASURES), {"rate": 0.5, "return": -100.0})]
    claims = claims_of(study(name, changes, keep=lambda config: config.estimator == "paper" or config.lam == 0))
    tested = [claim for claim in claims if claim.holds not in ("not decided", "cannot be judged")]
    assert len(tested) > len(claims) / 3
    assert not any("our estimator:" in claim.measured for claim in tested)
    assert {part.split(" (")[0] for claim in tested for part in claim.blame.split("; ")} <= {UNKNOWN, NEITHER, ""}
    assert any(UNKNOWN in claim.blame for claim in tested)


def test_other_settings_than_the_papers_are_no_test_of_its_claims():
    other = [replace(run, config=run.config.replace(lam=2.0)) for run in study("lunarlander").runs]
    for claim in claims_of(replace(study("lunarlander"), runs=tuple(other))):
        assert (claim.holds, claim.blame) == ("not decided", "")
        assert "the settings are not those of the study lunarlander" in claim.measured


def test_other_studies_have_no_claims(tmp_path):
    renamed = replace(study("maze"), name="mine", folder=tmp_path)
    assert claims_of(renamed) == []
    assert write_claims(claims_of(renamed), tmp_path, "Mine") == []
    assert list(tmp_path.iterdir()) == []


def test_the_trap_and_the_diverged_are_told_by_name():
    changes = [(of("variance", seed=0), TRAPPED), (of("variance", seed=1), BAD), (of("variance", seed=2), DIVERGED)]
    claim = row(claims_of(study("maze", changes)), "Maze: Variance fails")
    sentence = "each 0.75 (7 of 10 seeds [0.35, 0.93], 1 trapped at a wall, 0.15 time-outs, 1 diverged)"
    assert claim.measured.startswith(sentence)


def test_the_cost_is_counted_from_the_risk_neutral_runs_if_there_are_any():
    assert going(9) == pytest.approx(-8.964084, abs=1e-6)
    assert going(100) == pytest.approx(-95.2079, abs=1e-4)
    assert arriving(9, 10.0) == pytest.approx(going(8) + 10.0 * 0.999**8)
    assert arriving(9, -1.0) == pytest.approx(going(9))
    dear = [(of(MEASURES), {"return": -19.0}), ({"lam": 0.0}, {"return": -12.0})]
    assert row(claims_of(study("maze", dear)), "penalising").holds == "yes"  # 7 of 83.2
    alone = row(claims_of(study("maze", dear, keep=lambda config: config.lam > 0)), "penalising")
    assert alone.holds == "no"  # 21 of 97.2
    assert f"the risk-neutral return ({arriving(9, 10.0):.1f})" in alone.claim


@pytest.mark.parametrize(
    ("estimators", "blame"),
    [(("influence",), f"{LAMBDA_AND_ESTIMATOR}: see maze-best"), (("paper", "influence"), f"{LAMBDA}: see maze-best"),
     ((), MEASURE)],
)  # fmt: skip
def test_maze_best_says_whether_another_lambda_works_and_with_whose_estimator(estimators, blame, tmp_path):
    best = []
    for config in (run.config for run in study("maze", keep=lambda c: c.lam > 0 and c.measure == "variance").runs):
        logged = small_study.rows(risk_averse=[1.0 if config.estimator in estimators else 0.3] * 3)
        best.append((config.replace(lam=0.123, updates=30), logged))
    small_study.written(tmp_path / "maze-best", best, "maze-best")
    bad = study("maze", [(of("variance"), TRAPPED)], folder=tmp_path / "maze")
    assert row(claims_of(bad), "Maze: Variance fails").blame == blame
    (tmp_path / "maze-best" / "study.json").write_text("{")  # no part of this study
    assert row(claims_of(bad), "Maze: Variance fails").blame == MEASURE


def test_a_real_study_has_its_claims_written(tmp_path):
    out = small_study.trained(tmp_path / "study", seeds=1)
    about = json.loads((out / "study.json").read_text())
    (out / "study.json").write_text(json.dumps({**about, "name": "maze"}))
    paths = report.write(out, claims=claims_of(results.read(out)), remark=RECONSTRUCTION)[:2]
    assert [path.relative_to(out).as_posix() for path in paths] == ["results/claims.json", "results/claims.md"]
    before = [path.read_bytes() for path in paths]
    listed = json.loads(before[0])
    assert [sorted(one) for one in listed] == [["blame", "claim", "holds", "measured", "other"]] * 16
    assert {one["holds"] for one in listed} == {"not decided"}
    page = (out / "report.html").read_text()
    assert all(html.escape(one["claim"]).replace("&#x27;", "&#39;") in page for one in listed)
    text = before[1].decode()
    assert RECONSTRUCTION in text
    assert text.count("\n| Maze: ") == 16


def test_markdown_keeps_its_columns(tmp_path):
    write_claims([Claim("a|b", "one\ntwo", "yes", "", "no")], tmp_path, "Title")
    assert (tmp_path / "claims.md").read_text().splitlines()[-1] == "| a\\|b | one two | yes | no |  |"
