"""What the tests of a module share is made once, by one process."""

import pytest


@pytest.fixture(scope="module")
def shared():
    return object()


def test_the_group_of_a_module_is_in_the_name_that_tests_are_handed_out_by(shared, request):
    """A pytest that pytest-xdist does not know would leave it out, and every process would make all that is shared."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("only with -n and --dist loadgroup")
    assert request.node.nodeid.endswith("@tests.test_groups")
