"""What seeds decide: each interval and test against SciPy's or an enumeration, each answer where it is known."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from steadyrl.paper.evidence import (
    Answer,
    alike,
    either,
    every,
    higher,
    mean_interval,
    more_than,
    near,
    negated,
    permutation_p,
    share_interval,
    sign_flip_p,
    slower,
    sooner,
)

YES = Answer(True)
NO = Answer(False)
OPEN = Answer(None)


def seeds(*values):
    return dict(enumerate(map(float, values)))


@pytest.mark.parametrize(("k", "n"), [(k, n) for n in (1, 3, 5, 10, 20) for k in range(n + 1)])
def test_a_share_has_clopper_and_pearsons_interval(k, n):
    exact = stats.binomtest(k, n).proportion_ci(0.95, method="exact")
    assert share_interval(k, n) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_ten_of_ten_seeds_are_two_thirds_and_more_and_nine_decide_nothing():
    assert share_interval(10, 10) == pytest.approx((0.6915, 1.0), abs=1e-4)
    assert [more_than(k, 10, 2 / 3).holds for k in range(11)] == [False] * 4 + [None] * 6 + [True]
    assert more_than(5, 5, 2 / 3) == Answer(None, 10)  # ten of ten
    assert more_than(2, 3, 2 / 3).needed is None  # at the level itself no number decides


def test_the_seeds_that_are_needed_are_the_fewest_that_decide():
    needed = more_than(9, 10, 2 / 3).needed
    decided = [stats.binomtest(round(0.9 * n), n).proportion_ci(0.95).low > 2 / 3 for n in range(11, needed + 1)]
    assert decided == [False] * (needed - 11) + [True]


def test_signs_are_flipped_in_every_way():
    d = np.array([0.3, -0.1, 0.4, 0.2, 0.5])
    sums = [sum(s * x for s, x in zip(signs, d, strict=True)) for signs in product((-1, 1), repeat=5)]
    assert sign_flip_p(d) == np.mean([abs(total) >= 1.3 - 1e-12 for total in sums])
    scipys = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip_p(d) == pytest.approx(scipys.pvalue)


def test_of_many_signs_some_are_drawn():
    d = np.random.default_rng(1).normal(0.3, 1.0, 30)
    assert sign_flip_p(d) == pytest.approx(stats.ttest_1samp(d, 0.0).pvalue, abs=0.02)


def test_two_groups_are_divided_in_every_way():
    x, y = np.array([1.0, 2.0, 4.0, 7.0]), np.array([3.0, 0.0, -1.0])
    scipys = stats.permutation_test((x, y), lambda a, b: a.mean() - b.mean(), n_resamples=np.inf)
    assert permutation_p(x, y) == pytest.approx(scipys.pvalue)
    many = np.random.default_rng(2).normal(size=(2, 15)) + np.array([[0.7], [0.0]])
    assert permutation_p(*many) == pytest.approx(stats.ttest_ind(*many).pvalue, abs=0.02)


def test_a_mean_has_students_interval():
    x = [3.0, 1.0, 4.0, 1.5, 9.0]
    students = stats.ttest_1samp(x, 0.0).confidence_interval(0.95)
    assert mean_interval(seeds(*x)) == pytest.approx((students.low, students.high))
    assert mean_interval(seeds(3.0)) == (-math.inf, math.inf)


def test_seeds_are_compared_with_themselves():
    """Far apart, but each a little higher than its own: not to be seen without the pairs."""
    low = seeds(*(10.0 * k for k in range(8)))
    high = {seed: x + 1.0 for seed, x in low.items()}
    assert higher(high, low) == YES
    assert higher(low, high) == NO
    others = higher({seed + 100: x for seed, x in high.items()}, low)  # other seeds: no pairs
    assert (others.holds, others.needed) == (None, None)  # 1 beside a spread of 24: more than anybody runs


def test_a_tie_is_not_higher():
    x = seeds(*[0.9] * 10)
    assert higher(x, x) == NO
    assert higher(x, 0.9) == NO
    assert sooner(x, x) == NO
    few = seeds(*[0.9] * 5)
    assert higher(few, few) == sooner(few, few) == Answer(None, 6)


def test_five_seeds_that_agree_decide_no_difference_and_six_do():
    assert higher(seeds(*[1.0] * 5), 0.5) == Answer(None, 6)
    assert higher(seeds(*[1.0] * 6), 0.5) == YES
    assert higher(seeds(*[1.0] * 6), 0.5, margin=0.6) == NO


def test_two_groups_without_pairs_need_seeds_by_the_spread_of_both():
    few, more = (
        higher({k + 10: x + shift for k, x in seeds(0, 2, 4, 6).items()}, seeds(0, 1, 2)) for shift in (0, -1.5)
    )
    spread = np.var([0, 2, 4, 6], ddof=1) + np.var([0, 1, 2], ddof=1)
    assert few == Answer(None, max(6, math.ceil(stats.norm.ppf(0.975) ** 2 * spread / 2.0**2)))
    assert more == Answer(None, math.ceil(stats.norm.ppf(0.975) ** 2 * spread / 0.5**2))


def test_one_seed_needs_as_many_as_would_decide_if_they_all_did_as_it():
    assert higher(seeds(1.0), 0.5) == Answer(None, 6)
    assert higher(seeds(1.0), {7: 0.5}) == Answer(None, 6)
    assert near(seeds(10.0), 10.0, 1.0) == near(seeds(15.0), 10.0, 1.0) == Answer(None, 2)


def test_a_large_spread_needs_more_seeds():
    few, many = (higher(seeds(*[1.0 + x, 1.0 - x] * 4)) for x in (1.5, 15.0))
    assert few.holds is None
    assert few.needed == math.ceil((stats.norm.ppf(0.975) * np.std([2.5, -0.5] * 4, ddof=1)) ** 2)
    assert many.needed == math.ceil((stats.norm.ppf(0.975) * np.std([16.0, -14.0] * 4, ddof=1)) ** 2)
    assert higher(seeds(1.0, -1.0, 1.0, -1.0)) == OPEN  # a mean of 0 is none that seeds would tell from 0


def test_times_are_compared_by_signs_for_some_never_come():
    fast, slow = seeds(*[100.0] * 6), seeds(*[200.0] * 5, math.inf)
    assert sooner(fast, slow) == YES
    assert sooner(slow, fast) == NO
    assert slower(slow, fast, 1.5) == YES
    assert slower(slow, fast, 2.5) == Answer(None, 12)  # one of six; two of twelve would be no
    never = seeds(*[math.inf] * 6)
    assert slower(never, never, 1.5) == NO
    assert sooner(never, never) == NO


def test_near_is_within_and_not_only_perhaps():
    assert near(seeds(10.0, 10.2, 9.8), 10.0, 1.0) == YES
    assert near(seeds(10.0, 10.2, 9.8), 12.0, 1.0) == NO
    wide = near(seeds(8.0, 12.0, 10.0, 9.0, 11.0), 10.0, 1.0)
    assert (wide.holds, wide.needed) == (None, 20)  # half a width of 1.96 has to become 1
    outside = near(seeds(8.0, 12.0, 10.0, 9.0, 11.0), 8.0, 1.0)
    assert (outside.holds, outside.needed) == (None, 20)  # the same, to be beyond 9
    assert near(seeds(8.0, 12.0, 10.0, 9.0, 11.0), 9.0, 1.0) == OPEN  # at the edge itself no number decides


def test_groups_that_differ_in_every_seed_are_not_alike():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(4, 10))
    assert alike([seeds(*row) for row in noise]).holds is bool(stats.friedmanchisquare(*noise).pvalue > 0.05)
    assert alike([seeds(*(row + 5.0 * k)) for k, row in enumerate(noise)]) == NO
    assert alike([seeds(1.0, 2.0)] * 3) == YES
    assert alike([seeds(1.0)] * 3) == Answer(None, 2)


def test_answers_are_put_together():
    assert every([YES, YES]) == YES
    assert every([YES, NO, OPEN]) == NO
    assert every([YES, Answer(None, 12), Answer(None, 30)]) == Answer(None, 30)
    assert every([Answer(None, 12), OPEN]) == OPEN
    assert either([NO, YES, OPEN]) == YES
    assert either([NO, NO]) == NO
    assert either([NO, Answer(None, 12)]) == Answer(None, 12)
    assert negated(Answer(None, 7)) == Answer(None, 7)
