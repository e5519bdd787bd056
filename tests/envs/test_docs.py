"""docs/environments.md, run: its sessions give what the page says, its tables name what exists."""

import doctest
import re
from pathlib import Path

from steadyrl.envs import DOMAINS, SMALL_DOMAINS

PAGE = (Path(__file__).parents[2] / "docs" / "environments.md").read_text(encoding="utf-8")


def test_the_sessions_give_what_the_page_says():
    sessions = "\n".join(re.findall(r"```pycon\n(.*?)```", PAGE, flags=re.DOTALL))
    test = doctest.DocTestParser().get_doctest(sessions, {}, "environments.md", None, 0)
    assert len(test.examples) > 20
    report = []
    doctest.DocTestRunner().run(test, out=report.append)
    assert report == []


def test_every_domain_and_parameter_is_on_the_page():
    for domain in (*DOMAINS, *SMALL_DOMAINS):
        assert f"`{domain.id}`" in PAGE
        missing = [p.name for p in domain.parameters if f"`{p.name}" not in PAGE]
        assert missing == []
