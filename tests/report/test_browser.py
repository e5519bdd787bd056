"""The page in a real browser: it draws, answers to pointer and keys, fits a phone, and asks nobody for anything.

Where there is no Chromium the tests are skipped.
"""

import pytest

from steadyrl import measures
from steadyrl.report import study as report
from steadyrl.report.claims import Claim
from tests.report import browser
from tests.studies import small_study

pytestmark = pytest.mark.skipif(browser.executable() is None, reason="no Chromium is installed here")

HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">"
LINES = "document.querySelectorAll('#curves .line').length"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = small_study.trained(tmp_path_factory.mktemp("browser") / "study", title=f"Small {HOSTILE}")
    report.write(folder, evaluate=20, maps=True, claims=[Claim(HOSTILE, "1 < 2", "yes")])
    return folder / "report.html"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    running = browser.Browser(tmp_path_factory.mktemp("profile"))
    yield running
    running.close()


@pytest.fixture
def window(chromium, page):
    chromium.open(page)
    return chromium


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_draws_without_complaint_asks_for_nothing_and_fits(width, scheme, chromium, page):
    chromium.open(page, width=width, scheme=scheme)
    assert chromium.do(LINES) == 4  # two measures in two panels
    assert chromium.do("document.querySelectorAll('#plane .dot').length") == 8  # of one estimator
    assert chromium.do("document.querySelectorAll('#maps svg').length") == 8
    assert chromium.do("document.documentElement.scrollWidth") <= width
    assert chromium.requests() == [page.as_uri()]
    assert chromium.complaints() == []


def test_the_plane_comes_first_and_text_is_as_wide_as_the_window_of_a_desktop(chromium, page):
    chromium.open(page, width=1920)
    sections = chromium.do("[...document.querySelectorAll('main > section')].map(one => one.id)")
    assert sections[:5] == ["headlines", "plane", "curves", "claims", "finals"]
    assert chromium.do("document.querySelector('#finals .note').getBoundingClientRect().width") > 0.9 * 1920


def test_what_a_study_says_is_text_and_never_code(window):
    assert window.do("document.title") == f"Small {HOSTILE}"
    assert window.do("document.querySelector('h1').textContent") == f"Small {HOSTILE}"
    assert window.do("document.querySelector('#claims tbody td').textContent") == HOSTILE
    assert window.do("document.querySelectorAll('img').length") == 0
    assert window.do("document.scripts.length") == 2  # the data and the page's own


def test_a_name_in_the_legend_hides_its_line_and_a_second_click_brings_it_back(window):
    button = "document.querySelector('#curves .legend button')"
    hidden = window.do(f"{button}.dataset.line")
    drawn = f"document.querySelectorAll('#curves .line[data-line=\"{hidden}\"]').length"
    assert window.do(drawn) == 2
    window.do(f"{button}.click()")
    assert (window.do(drawn), window.do(LINES), window.do(f"{button}.ariaPressed")) == (0, 2, "false")
    window.do(f"{button}.click()")
    assert (window.do(drawn), window.do(LINES), window.do(f"{button}.ariaPressed")) == (2, 4, "true")


def choose(window, section, label, value):
    window.do(
        f"""(() => {{
        const labels = [...document.querySelectorAll('#{section} .controls label')];
        const box = labels.find(one => one.firstChild.textContent === '{label}').querySelector('select');
        box.value = '{value}'; box.dispatchEvent(new Event('change')); }})()"""
    )


def test_metric_panels_and_lines_can_be_chosen(window):
    axis = "document.querySelector('#curves .chart').getAttribute('aria-label')"
    captions = "[...document.querySelectorAll('#curves figcaption')].map(one => one.textContent)"
    assert window.do(axis).startswith("Return against episodes, gaussian: Variance, Gini deviation")
    choose(window, "curves", "show", "risk_averse")
    assert window.do(axis).startswith("Risk-averse rate against episodes")
    choose(window, "curves", "panels", 0)  # the measures, which were the lines
    assert window.do(captions) == ["Variance", "Gini deviation"]
    choose(window, "curves", "lines", 1)
    assert window.do(axis) == "Risk-averse rate against episodes, Variance: influence (ours), paper"
    choose(window, "plane", "variability by", 0)
    assert window.do("document.querySelector('#plane .chart').getAttribute('aria-label')").startswith(
        "mean return against Variance"
    )
    assert window.complaints() == []


def test_values_appear_under_the_pointer_and_under_the_arrow_keys(window, page):
    tip = "document.getElementById('tip')"
    assert window.do(f"{tip}.hidden")
    box = window.do("document.querySelector('#curves .chart').scrollIntoView({block: 'center'}), "
                   "document.querySelector('#curves .chart').getBoundingClientRect().toJSON()")  # fmt: skip
    window.move(box["right"] - 12, box["top"] + 60)
    text = window.do(f"{tip}.textContent")
    line = (page.parent / "results" / "curves.csv").read_text().splitlines()
    assert line[0].startswith("env_options.noise,measure,estimator,seeds,update,episodes,steps,return.mean")
    last = next(row.split(",") for row in line if row.startswith("gaussian,variance,influence,2,20,"))
    assert text.startswith("80 episodes")
    assert f"{float(last[7]):.4g}" in text
    window.move(5, 5)
    assert window.do(f"{tip}.hidden")
    window.do("document.querySelector('#curves .chart').focus()")
    window.key("Home")
    assert window.do(f"{tip}.textContent").startswith("8 episodes")
    window.key("ArrowRight")
    assert window.do(f"{tip}.textContent").startswith("16 episodes")
    window.key("Escape")
    assert window.do(f"{tip}.hidden")


def test_the_table_of_final_numbers_sorts_by_its_columns(window):
    column = "[...document.querySelectorAll('#finals tbody tr')].map(row => Number(row.cells[4].dataset.sort))"
    button = "document.querySelectorAll('#finals th button')[4]"
    before = window.do(column)
    window.do(f"{button}.click()")
    assert window.do(column) == sorted(before)
    window.do(f"{button}.click()")
    assert window.do(column) == sorted(before, reverse=True)
    assert window.do(f"{button}.parentElement.ariaSort") == "descending"


def test_every_measure_has_a_column_that_sorts(window):
    heads = window.do("[...document.querySelectorAll('#measured th')].map(head => head.textContent)")
    assert heads[3:] == ["Return", "Risk-averse rate", *(measures.get(name).label for name in measures.names())]
    place = heads.index("Gini deviation")
    column = f"[...document.querySelectorAll('#measured tbody tr')].map(row => Number(row.cells[{place}].dataset.sort))"
    before = window.do(column)
    window.do(f"document.querySelectorAll('#measured th button')[{place}].click()")
    assert window.do(column) == sorted(before) != before
    assert len(before) == 8


def test_light_and_dark_follow_the_system_until_they_are_chosen(chromium, page):
    ground = "getComputedStyle(document.body).backgroundColor"
    chromium.open(page, scheme="light")
    light = chromium.do(ground)
    chromium.open(page, scheme="dark")
    dark = chromium.do(ground)
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(20, 24, 29)")
    chromium.do("document.getElementById('theme').click()")
    assert chromium.do(ground) == light
    chromium.do("document.getElementById('theme').click()")
    assert chromium.do(ground) == dark
