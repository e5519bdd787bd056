"""What `steadyrl report` writes: tables that can be recomputed, the same bytes every time, and words as text."""

import base64
import csv
import hashlib
import json
import re
import shutil
from html.parser import HTMLParser
from itertools import product

import numpy as np
import pytest

from steadyrl import measures
from steadyrl.cli import main
from steadyrl.report import (
    _arrangement,
    _curves,
    _figures,
    _maze,
    _plane,
    _sensitivity,
    _style,
    _summary,
    _tables,
)
from steadyrl.report import study as report
from steadyrl.report.claims import Claim
from steadyrl.runs import RunConfig, load
from steadyrl.studies import evaluations, results, statistics
from tests.studies import small_study
from tests.studies.small_study import MAZE, rows, written

HOSTILE = "</script><script>alert(1)</script>\u2028<img src=x onerror=alert(2)> {{ 7 * 7 }}"


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    folder = small_study.trained(tmp_path_factory.mktemp("reported") / "study")
    report.write(folder, evaluate=20, maps=True)
    return folder


@pytest.fixture
def copied(reported, tmp_path):
    return shutil.copytree(reported, tmp_path / "elsewhere")


class Page(HTMLParser):
    """The elements of a page and the text of its scripts."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.scripts = [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, text):
        if self.elements and self.elements[-1][0] == "script":
            self.scripts.append(text)

    def handle_endtag(self, tag):
        if tag == "script":
            self.elements.append(("", {}))


def made(folder):
    """Every file that a report writes."""
    paths = [folder / "report.html", *(folder / "figures").iterdir(), *(folder / "results").iterdir()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def table(folder, name):
    with (folder / "results" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def hashes(cell):
    return [run.hash for run in cell.runs]


def test_everything_is_written(reported):
    names = {f"figures/{name}.{suffix}" for suffix in ("png", "svg") for name in (
        "curves_return", "curves_undiscounted_return", "curves_risk_averse", "final_return",
        "final_risk_averse", "risk_return")}  # fmt: skip
    names |= {f"results/{name}.csv" for name in ("runs", "cells", "curves", "evaluations")} | {"report.html"}
    assert set(made(reported)) == names


def test_the_same_study_gives_the_same_bytes_wherever_it_is(reported, copied):
    before = made(reported)
    for path in before:
        (copied / path).unlink()
    report.write(copied, evaluate=20, maps=True)
    again = made(copied)
    assert again.keys() == before.keys()
    assert [path for path in before if again[path] != before[path]] == []


def test_the_tables_can_be_recomputed(reported):
    study = results.read(reported)
    runs = {row["hash"]: row for row in table(reported, "runs")}
    for run in study.runs:
        row = runs[run.hash]
        assert (row["status"], row["measure"], row["seed"]) == ("finished", run.config.measure, str(run.config.seed))
        assert (float(row["return"]), float(row["episodes"])) == (run.final("return"), 80.0)
    rows = {tuple(row[name] for name in (*study.varied, "metric")): row for row in table(reported, "cells")}
    own = ["episodes_to_90", *(f"evaluated.{name}" for name in ("mean", "risk_averse", "length", *measures.names()))]
    assert [row["metric"] for row in table(reported, "cells")] == [*study.metrics, *own] * len(study.cells)
    for cell in study.cells:
        row, finals = rows[(*cell.values.values(), "return")], cell.finals("return")
        assert float(row["mean"]) == finals.mean()
        assert float(row["standard_error"]) == statistics.standard_error(finals)
        assert float(row["low"]) <= float(row["iqm"]) <= float(row["high"])
        assert float(row["median"]) == finals.max()  # the upper of two
        variances = [float(one["variance"]) for one in table(reported, "evaluations") if one["hash"] in hashes(cell)]
        row = rows[(*cell.values.values(), "evaluated.variance")]
        assert (float(row["mean"]), row["runs"]) == (pytest.approx(np.mean(variances), rel=1e-12), "2")
        assert float(row["low"]) <= float(row["mean"]) <= float(row["high"])
    curves = [row for row in table(reported, "curves") if row["measure"] == "variance" and row["estimator"] == "paper"]
    cell = next(c for c in study.cells if tuple(c.values.values()) == ("gaussian", "variance", "paper"))
    logged = np.stack([run.columns["return"] for run in cell.runs])
    here = [row for row in curves if row["env_options.noise"] == "gaussian"]
    assert [float(row["return.mean"]) for row in here] == pytest.approx(logged.mean(axis=0), rel=1e-15)
    assert [float(row["return.standard_error"]) for row in here] == pytest.approx(
        logged.std(axis=0, ddof=1) / np.sqrt(2), rel=1e-12, abs=1e-15
    )


def test_the_page_is_one_file_that_runs_its_own_script_alone(reported):
    html = (reported / "report.html").read_text()
    page = Page(html)
    loaded = [
        value
        for _, attributes in page.elements
        for key, value in attributes.items()
        if key in ("src", "srcset", "data")
    ]
    links = [attributes["href"] for _, attributes in page.elements if "href" in attributes]
    assert loaded == []
    assert all(link.startswith("#") for link in links)
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|import\(", html)
    digest = base64.b64encode(hashlib.sha256(page.scripts[-1].encode()).digest()).decode()
    policy = next(attributes["content"] for tag, attributes in page.elements if attributes.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}'" in policy
    assert len(html) < 400_000


def test_the_curves_on_the_page_are_those_of_the_study(reported):
    data = json.loads(Page((reported / "report.html").read_text()).scripts[0])
    study = results.read(reported)
    assert [axis["name"] for axis in data["axes"]] == list(study.axes)
    for cell, line in zip(study.cells, data["cells"], strict=True):
        at = {axis["name"]: axis["levels"][place] for axis, place in zip(data["axes"], line["at"], strict=True)}
        assert at == {name: _style.level_label(name, cell.values[name]) for name in study.axes}
        expected = np.stack([run.columns["return"] for run in cell.runs]).mean(axis=0)
        assert line["lines"]["return"]["y"] == pytest.approx(expected, rel=1e-4)
    assert len(data["plane"]["points"]) == 16


def test_hostile_words_are_shown_as_text(copied):
    about = json.loads((copied / "study.json").read_text())
    about |= dict.fromkeys(("name", "title", "about", "command"), HOSTILE)
    (copied / "study.json").write_text(json.dumps(about))
    failed = next((copied / "runs").iterdir())
    (failed / "done.json").unlink()
    (failed / "failed.json").write_text(json.dumps({"message": HOSTILE}))
    report.write(copied, claims=[Claim(HOSTILE, HOSTILE, HOSTILE, HOSTILE)])
    html = (copied / "report.html").read_text()
    page = Page(html)
    assert [tag for tag, _ in page.elements].count("script") == 2
    assert "img" not in [tag for tag, _ in page.elements]
    assert not [key for _, attributes in page.elements for key in attributes if key.startswith("on")]
    assert html.count("&lt;img src=x onerror=alert(2)&gt; {{ 7 * 7 }}") == 9  # title twice, about, command, claim, why


def test_hostile_values_of_a_field_are_shown_as_text(tmp_path):
    noises = [HOSTILE, "$\\frac{1}$ in 日本語", "gaussian"]
    configs = [RunConfig("some/Env-v0", updates=20, env_options={"noise": noise}) for noise in noises]
    folder = written(tmp_path / "study", [(config, rows(**{"return": [1.0, 2.0]})) for config in configs])
    report.write(folder)
    page = Page((folder / "report.html").read_text())
    assert [tag for tag, _ in page.elements].count("script") == 2
    assert HOSTILE in json.loads(page.scripts[0])["axes"][0]["levels"]


def test_a_study_that_is_half_finished_shows_what_there_is(copied, capsys):
    runs = results.read(copied).runs
    for run in runs[:4]:
        shutil.rmtree(run.folder)
    for run in runs[4:8]:
        (run.folder / "done.json").unlink()
    assert main(["report", str(copied), "--evaluate", "20", "--no-maps"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("small: 16 runs (8 finished, 4 unfinished, 4 missing), 6 cells\n")
    assert f"written: {copied / 'report.html'}\n" in out
    html = (copied / "report.html").read_text()
    assert "8 of 16 runs have no final numbers" in html
    assert 'class="map"' not in html
    assert len(table(copied, "evaluations")) == 8
    cell = next(c for c in results.read(copied).cells if not c.finished)
    line = _curves.curve(cell, "return")
    assert (line.seeds, line.mean.size) == (2, 10)  # as far as they have come


def test_a_study_that_has_not_begun_has_a_page(tmp_path):
    folder = written(tmp_path / "study", [])
    about = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps({**about, "runs": ["0123456789ab"]}))
    assert report.write(folder)[-1].read_text().count("0 / 1") == 1
    assert not list((folder / "figures").iterdir())


@pytest.mark.parametrize("options", [[], ["--evaluate", "0"]])
def test_a_folder_that_is_no_study_is_refused_in_one_line(options, tmp_path, capsys):
    assert main(["report", str(tmp_path), *options]) == 2
    assert capsys.readouterr().err == f"error: {tmp_path} is no study's folder: it has no study.json\n"


def test_a_negative_number_of_episodes_is_refused(reported, capsys):
    assert main(["report", str(reported), "--evaluate", "-1"]) == 2
    assert capsys.readouterr().err.startswith("error: evaluate = -1")


def test_a_module_is_imported_only_if_it_may_be(tmp_path, capsys):
    config = RunConfig("some_module:Env-v0", updates=20)
    folder = written(tmp_path / "study", [(config, rows(**{"return": [1.0, 2.0]}))])
    assert main(["report", str(folder), "--evaluate", "5"]) == 2
    assert "--allow-import" in capsys.readouterr().err
    assert main(["report", str(folder)]) == 0


def test_evaluations_are_those_of_the_runs_and_are_kept(copied):
    study = results.read(copied)
    rows = evaluations.read(copied)
    first = study.runs[0]
    evaluation = load(first.folder).evaluate(20)
    assert rows[first.hash]["mean"] == float(evaluation.returns.mean())
    assert rows[first.hash]["variance"] == pytest.approx(evaluation.returns.var(), rel=1e-9)
    other = study.runs[1]
    assert (first.settings["seed"], other.settings["seed"]) == (0, 1)
    assert rows[other.hash]["mean"] == float(load(other.folder).evaluate(20, seed=1).returns.mean())
    for path in first.folder.glob("ckpt-*"):
        path.unlink()
    assert evaluations.evaluate(study, 20) == []  # what is in the file is not played again
    complaints = evaluations.evaluate(study, 21)
    assert len(complaints) == 1
    assert first.hash in complaints[0]
    assert len(evaluations.read(copied)) == 15
    with pytest.warns(UserWarning, match=f"1 final policies were not played; .*{first.hash}"):
        report.write(study, evaluate=22, maps=False)


def test_evaluations_are_written_on_the_way(copied, monkeypatch):
    study = results.read(copied)
    monkeypatch.setattr(evaluations, "PAUSE", 0.0)

    def told(count, _of):
        if count == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluations.evaluate(study, 23, told)
    rows = [row for row in evaluations.read(copied).values() if row["episodes"] == 23]
    assert len(rows) == 2
    assert len(evaluations.read(copied)) == 16  # the others are as they were


def test_a_long_curve_is_thinned_by_averaging_neighbours(tmp_path):
    columns = {name: np.arange(1.0, 1001.0) for name in ("update", "episodes", "steps", "return")}
    run = results.RunResult("0" * 12, tmp_path, "finished", RunConfig(MAZE, updates=1000), {}, columns)
    cell = results.Cell({}, (run,))
    line = _curves.curve(cell, "return", points=250)
    assert line.mean.tolist() == line.episodes.tolist() == np.arange(2.5, 1000.0, 4.0).tolist()
    uneven = _curves.curve(cell, "return", points=300)  # parts of three and four rows
    assert uneven.mean.size == 300
    assert set(np.diff(uneven.mean)) == {3.0, 3.5}
    assert _curves.curve(cell, "return", points=1000).mean.tolist() == columns["return"].tolist()


# A sensitivity study: each measure over lam at its own rate, and over the rate at its own lam.
OWN = {"variance": (0.1, 1e-4), "gini_deviation": (1.0, 1e-3)}


@pytest.fixture
def sensitivity(tmp_path):
    lines = {}
    for measure, (own_lam, own_rate) in OWN.items():
        for lam, rate in {*product((0.1, 0.5, 1.0), (own_rate,)), *product((own_lam,), (1e-5, 1e-4, 1e-3))}:
            for estimator, seed in product(("paper", "influence"), range(2)):
                fields = {"measure": measure, "lam": lam, "policy_rate": rate, "estimator": estimator, "seed": seed}
                value = 100 * lam + np.log10(rate) + 0.001 * seed
                lines[measure, lam, rate, estimator, seed] = (RunConfig(MAZE, updates=20, **fields), value)
    logged = [(c, rows(variability=[1.0, c.lam], **{"return": [0.0, x]})) for c, x in (lines[k] for k in sorted(lines))]
    return results.read(written(tmp_path / "study", logged))


def test_a_sensitivity_figure_holds_the_other_numbers_at_each_lines_own(sensitivity):
    plan = _arrangement.arrange(sensitivity)
    assert (plan.line, plan.panel, plan.rows, plan.scales) == ("measure", "estimator", (), ("lam", "policy_rate"))
    figure = _sensitivity.sensitivity_figure(sensitivity, plan, "policy_rate")
    panel = figure.axes[0]
    assert panel.get_xscale() == "log"
    lines = [line for line in panel.lines if len(line.get_xdata()) == 3 and line.get_linestyle() == "-"]
    drawn = {line.get_color(): line.get_ydata() for line in lines}
    for measure, (lam, _) in OWN.items():
        colour = _style.LIGHT[_style.place("measure", measure, [])]
        assert drawn[colour] == pytest.approx([100 * lam + power + 0.0005 for power in (-5, -4, -3)])
    assert _sensitivity.sensitivity_figure(sensitivity, plan, "lam").axes[0].get_xscale() == "linear"


def test_the_plane_has_a_line_along_lam_for_each_measure_in_a_plane_of_its_own(sensitivity):
    plan = _arrangement.arrange(sensitivity)
    figure = _plane.plane_figure(sensitivity, plan, {})
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["Variance", "Gini deviation"]
    for axes, (_, rate) in zip(figure.axes, OWN.values(), strict=True):
        along = max(axes.lines, key=lambda line: len(line.get_xdata()))
        assert along.get_xdata() == pytest.approx([0.1, 0.5, 1.0])
        assert along.get_ydata() == pytest.approx([100 * lam + np.log10(rate) + 0.0005 for lam in (0.1, 0.5, 1.0)])


@pytest.mark.parametrize(("undiscounted", "drawn"), [([-1.5, -2.5], True), ([-1.0, -2.0], False)])
def test_undiscounted_returns_have_curves_of_their_own_where_they_differ(undiscounted, drawn, tmp_path):
    logged = small_study.rows(**{"return": [-1.0, -2.0], "undiscounted_return": undiscounted})
    config = RunConfig(small_study.MAZE, updates=20, log_every=10)
    one = results.read(small_study.written(tmp_path / "study", [(config, logged)]))
    paths = {path.name: path for path in _figures.write_figures(one, {})}
    assert ("curves_undiscounted_return.svg" in paths) == drawn
    assert "final_undiscounted_return.svg" not in paths
    if drawn:
        figure = _curves.curves_figure(one, _arrangement.arrange(one), "undiscounted_return")
        (axes,) = figure.axes
        assert axes.get_ylabel() == "Undiscounted return"
        assert any(list(line.get_ydata()) == undiscounted for line in axes.lines)


def test_the_files_of_a_sensitivity_study(sensitivity):
    names = {path.stem for path in _figures.write_figures(sensitivity, {})}
    assert names == {"curves_return", "final_return", "risk_return", "sensitivity_lam", "sensitivity_policy_rate"}


def test_measures_are_compared_over_the_noises_though_each_has_a_lam_of_its_own(tmp_path):
    runs = [
        (
            RunConfig(MAZE, updates=20, measure=measure, lam=lam, seed=seed, env_options={"noise": noise}),
            rows(**{"return": [0.0, worth + seed]}),
        )
        for (measure, lam, worth), noise, seed in product(
            (("variance", 0.1, 0.0), ("gini_deviation", 1.0, 1.5)), ("gaussian", "pareto"), range(3)
        )
    ]
    study = results.read(written(tmp_path / "study", runs))
    (comparison,) = _summary.comparisons(study, _arrangement.arrange(study))
    assert (comparison.better, comparison.worse, comparison.metric, comparison.tasks) == (
        "Gini deviation",
        "Variance",
        "Return",
        2,
    )
    assert comparison.estimate.value == pytest.approx(8 / 9)  # 1.5, 2.5, 3.5 against 0, 1, 2: only 1.5 < 2


def test_a_measure_has_one_colour_in_every_study():
    assert _style.place("measure", "gini_deviation", ["gini_deviation"]) == 4
    assert _style.place("measure", "gini_deviation", ["variance", "gini_deviation", "of_my_own"]) == 4
    colours = [_style.LIGHT[_style.place("measure", name, _style.NINE)] for name in _style.NINE]
    assert len(set(colours)) == 9


@pytest.fixture
def ranked(tmp_path):
    """Three methods under two noises: they end at returns of 1, 3 and 2, and at rates of 0.9 in so many seeds of 3."""
    worth = {"trvo": (1.0, 2), "mvpi": (3.0, 0), "tamar": (2.0, 1)}
    runs = [
        (
            RunConfig(MAZE, updates=20, algorithm=name, seed=seed, env_options={"noise": noise}),
            rows(risk_averse=[1.0 if seed < good else 0.5] * 2, **{"return": [0.0, value + 0.1 * seed]}),
        )
        for (name, (value, good)), noise, seed in product(worth.items(), ("gaussian", "pareto"), range(3))
    ]
    return results.read(written(tmp_path / "study", runs))


def test_the_rows_of_final_numbers_are_sorted_by_return_within_each_noise(ranked):
    rows = _tables.final_rows(ranked, _arrangement.arrange(ranked), {})
    order = [(row.cell.values["env_options.noise"], row.cell.values["algorithm"]) for row in rows]
    assert order == list(product(("gaussian", "pareto"), ("mvpi", "tamar", "trvo")))
    assert [row.trained["return"].value for row in rows[:3]] == pytest.approx([3.1, 2.1, 1.1])
    assert _tables.played_columns(rows) == []  # nobody has played them


def test_the_wait_for_a_rate_is_a_median_over_all_seeds_with_those_that_never_get_there(ranked):
    none, one, two = _tables.final_rows(ranked, _arrangement.arrange(ranked), {})[:3]
    assert [row.reached for row in (none, one, two)] == [0, 1, 2]
    assert [row.wait for row in (none, one, two)] == [None, None, 100.0]
    assert (two.after.low, two.after.high) == (100.0, np.inf)
    report.write(ranked, evaluate=0)
    html = (ranked.folder / "report.html").read_text()
    assert html.count("100 <small>[100, never], 2 of 3</small>") == 2
    assert html.count("never <small>[never, never], 0 of 3</small>") == 2
    waits = {row["algorithm"]: row for row in table(ranked.folder, "cells") if row["metric"] == "episodes_to_90"}
    numbers = {name: (row["mean"], row["median"], row["median_high"]) for name, row in waits.items()}
    assert numbers == {"trvo": ("", "100", "inf"), "mvpi": ("", "inf", "inf"), "tamar": ("", "inf", "inf")}


def test_every_measure_of_every_cell_is_on_the_page_with_its_interval(reported):
    study = results.read(reported)
    rows = _tables.final_rows(study, _arrangement.arrange(study), evaluations.read(reported))
    columns = _tables.played_columns(rows)
    assert [name for name, _ in columns] == ["mean", "risk_averse", *measures.names()]
    html = (reported / "report.html").read_text().partition('id="measured"')[2].partition("</section>")[0]
    for row in rows:
        for name, _ in columns:
            e = row.played[name]
            assert f"{_style.number(e.value)} <small>[{_style.number(e.low)}, {_style.number(e.high)}]</small>" in html
    assert html.count("<tr>") == 1 + len(study.cells)


def test_every_line_of_a_figure_is_named_once(reported):
    study = results.read(reported)
    figure = _curves.curves_figure(study, _arrangement.arrange(study), "risk_averse")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["Variance", "Gini deviation"]
    titles = [axes.get_title(loc="left") for axes in figure.axes[:4]]
    assert titles == ["gaussian", "pareto", "", ""]  # the second row is the second estimator's


def test_a_map_has_an_arrow_for_every_likely_move_of_every_free_cell(reported):
    study = results.read(reported)
    one = _maze.policy_maps(study)[0]
    run = load(one.cell.finished[0].folder)
    spec = run.make_env().unwrapped.maze
    probabilities = run.policy.probabilities()
    walked = [state for state in range(spec.n_states) if spec.grid[state // 6][state % 6] not in "#G"]
    assert one.svg.count("<polygon") == int((probabilities[walked] >= 0.04).sum())
    assert one.svg.count('class="r"') == 1
