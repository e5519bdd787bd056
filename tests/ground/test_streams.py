"""Random numbers by place: the same whichever way they are asked for, and as random as they should be."""

import numpy as np
from scipy import stats

from steadyrl.ground import streams


def test_splitmix64_gives_its_published_outputs():
    """The first outputs of the reference generator from seed 1234567."""
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    outputs = [streams.mix((1234567 + (k + 1) * streams.GOLDEN) & streams.MASK) for k in range(4)]
    assert outputs == expected


def test_one_number_and_many_are_the_same():
    keys = streams.keys(7, streams.ACTIONS, 3, 5)
    assert [int(k) for k in keys] == [streams.key(7, streams.ACTIONS, 3, i) for i in range(5)]
    index = np.array([4, 0, 7, 1, 2])
    u = streams.uniforms(keys, index, 3)
    assert all(u[j, d] == streams.uniform(int(keys[j]), int(index[j]) + d) for j in range(5) for d in range(3))


def test_places_differ_in_every_part():
    base = streams.key(1, 2, 3, 4)
    others = {streams.key(2, 2, 3, 4), streams.key(1, 3, 3, 4), streams.key(1, 2, 4, 4), streams.key(1, 2, 3, 5)}
    assert base not in others
    assert len(others) == 4
    assert streams.key(0, 1) != streams.key(1, 0)


def test_numbers_are_uniform_and_independent_across_neighbouring_places():
    u = streams.uniforms(streams.keys(0, streams.ENVIRONMENT, 0, 4000), np.zeros(4000, dtype=int), 50)
    assert 0 < u.min()
    assert u.max() < 1
    assert stats.kstest(u.ravel(), "uniform").pvalue > 1e-3
    for a, b in ((u[:, 0], u[:, 1]), (u[:-1, 0], u[1:, 0])):
        counts = np.histogram2d(a, b, bins=8, range=[[0, 1], [0, 1]])[0]
        assert stats.chisquare(counts.ravel()).pvalue > 1e-3
    first = np.array([streams.uniform(streams.key(s, 1), 0) for s in range(4000)])
    assert stats.kstest(first, "uniform").pvalue > 1e-3


def test_negative_and_huge_seeds_are_places_too():
    assert 0 <= streams.key(-1) <= streams.MASK
    assert streams.key(2**70 + 5) == streams.key(5 + 2**70 - 2**64 * 2**6)
