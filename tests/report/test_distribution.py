"""The picture of a sample: rulers are to scale, and nothing covers anything else."""

import itertools

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Rectangle

from steadyrl import evaluate, measures
from steadyrl.report import _distribution

rng = np.random.default_rng(0)
SAMPLES = {
    "skewed": rng.gamma(1.2, 2.0, size=500) - 1.0,
    "two": np.array([1.0, 3.0]),
    "constant": np.full(20, 7.5),
    "constant and large": np.full(20, -1e16),
    "heavy-tailed": rng.pareto(1.1, size=400),
    "heavy lower tail": -np.abs(rng.standard_cauchy(300)),
    "mostly one value": np.concatenate([np.full(99, 2.0), [-1e6]]),
    "large": 1e6 * rng.normal(size=100) - 9e6,
    "tiny": 1e-9 * rng.normal(size=100),
    "enormous": 1e150 * rng.normal(size=100),
}


@pytest.fixture(scope="module", params=SAMPLES)
def drawing(request):
    returns = SAMPLES[request.param]
    summary = evaluate.summary(returns, resamples=40)
    figure = _distribution.draw(returns, summary)
    FigureCanvasAgg(figure).draw()
    return returns, summary, figure


def test_no_label_covers_another_or_leaves_the_picture(drawing):
    figure = drawing[2]
    top, bottom = figure.axes
    renderer = figure.canvas.get_renderer()
    texts = [*bottom.texts, *bottom.get_yticklabels(), *bottom.get_xticklabels(), *figure.legends[0].get_texts()]
    texts += [bottom.xaxis.label, top.yaxis.label, *top.get_yticklabels()]
    boxes = {text: text.get_window_extent(renderer) for text in texts if text.get_text() and text.get_visible()}
    left, right = bottom.get_xlim()
    outside = [text for text in bottom.get_xticklabels() if not left <= text.get_position()[0] <= right]
    low, high = top.get_ylim()
    outside += [text for text in top.get_yticklabels() if not low <= text.get_position()[1] <= high]
    boxes = {text: box for text, box in boxes.items() if text not in outside}
    for (a, box), (b, other) in itertools.combinations(boxes.items(), 2):
        assert not box.overlaps(other), (a.get_text(), b.get_text())
    for text, box in boxes.items():
        assert figure.bbox.x0 <= box.x0, text.get_text()
        assert box.x1 <= figure.bbox.x1, text.get_text()


def test_each_measure_of_degree_one_is_a_ruler_from_the_mean_down(drawing):
    _, summary, figure = drawing
    rulers = [patch for patch in figure.axes[1].patches if isinstance(patch, Rectangle)]
    lengths = [row for row in map(summary.__getitem__, measures.names()) if measures.get(row.name).facts.degree == 1]
    assert len(lengths) == 7
    assert [-ruler.get_width() for ruler in rulers] == pytest.approx([row.value for row in lengths])
    assert {ruler.get_x() for ruler in rulers} == {summary["mean"].value}


def test_every_measure_is_named_and_every_return_is_counted(drawing):
    returns, summary, figure = drawing
    top, bottom = figure.axes
    names = {label.get_text() for label in bottom.get_yticklabels()}
    assert names == {summary[name].label for name in measures.names()}
    left, right = bottom.get_xlim()
    inside = np.sum((returns >= left) & (returns <= right))
    assert sum(bar.get_height() for bars in top.containers for bar in bars) == inside
    outside = returns.size - inside
    assert ("outside" in bottom.get_xlabel()) == (outside > 0)


def test_the_worst_share_is_shaded():
    returns = np.arange(100.0)
    figure = _distribution.draw(returns, evaluate.summary(returns, resamples=40))
    tail = figure.axes[0].containers[0]
    assert sum(bar.get_height() for bar in tail) == 20


def test_rulers_lie_within_the_picture_even_where_no_return_does():
    returns = SAMPLES["skewed"]
    figure = _distribution.draw(returns, evaluate.summary(returns, resamples=40))
    left, right = figure.axes[1].get_xlim()
    rulers = [ruler.get_x() + ruler.get_width() for ruler in figure.axes[1].patches]
    assert min(rulers) < returns.min()
    assert left < min(rulers)
    assert returns.max() < right
