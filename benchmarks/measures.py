"""Values and coefficients of the nine measures: growth with n, against naive forms and against skfolio.

    make bench        (or: python benchmarks/measures.py [--quick])

Every number is a ratio of two timings of the same process, the best of a few repetitions each.
"""

import argparse
import sys
import time

import numpy as np
import skfolio.measures as sk

from steadyrl import estimators, measures

NAIVE_N = 2000


def best(function, *args, repetitions=5):
    """Seconds of the fastest of a few calls."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        function(*args)
        times.append(time.perf_counter() - start)
    return min(times)


def naive_cvar_deviation(x):
    """The mean less the mean of the lowest fifth, the boundary return in part."""
    ordered, share = np.sort(x), 0.2 * x.size
    whole = int(share + 1e-9)
    rest = (share - whole) * ordered[whole] if whole < x.size else 0.0
    return x.mean() - (ordered[:whole].sum() + rest) / share


NAIVE = {
    "variance": np.var,
    "standard_deviation": np.std,
    "semi_variance": lambda x: np.mean(np.maximum(x.mean() - x, 0.0) ** 2),
    "semi_standard_deviation": lambda x: np.sqrt(np.mean(np.maximum(x.mean() - x, 0.0) ** 2)),
    "gini_deviation": lambda x: 0.5 * np.abs(x[:, None] - x).mean(),
    "mean_deviation": lambda x: np.abs(x - x.mean()).mean(),
    "mean_median_deviation": lambda x: np.abs(x - np.median(x)).mean(),
    "inter_quantile_range": lambda x: np.quantile(x, 0.9) - np.quantile(x, 0.1),
    "cvar_deviation": naive_cvar_deviation,
}
"""Each value as one would write it in NumPy: a line, no checks. Only the Gini deviation's is O(n^2)."""


def leave_one_out(value):
    """n (D_n - D_-i), one value at a time: O(n) times the value's cost."""

    def coefficients(x):
        n = x.size
        return n * (value(x) - np.array([value(np.delete(x, i)) for i in range(n)]))

    return coefficients


def pairwise_gini(x):
    """The closed form with the n x n table of distances: O(n^2)."""
    n = x.size
    distances = np.abs(x[:, None] - x).sum(axis=1)
    return (n * distances - distances.sum()) / ((n - 1) * (n - 2))


SKFOLIO = {
    "variance": lambda x: sk.variance(x, biased=True),
    "standard_deviation": lambda x: sk.standard_deviation(x, biased=True),
    "semi_variance": lambda x: sk.semi_variance(x, biased=True),
    "semi_standard_deviation": lambda x: sk.semi_deviation(x, biased=True),
    "mean_deviation": sk.mean_absolute_deviation,
    "gini_deviation": sk.gini_mean_difference,
    "cvar_deviation": lambda x: sk.cvar(x, beta=0.8),
}


def growth(sizes):
    print("\n## Growth: time for n, over time for 1,000 (n log n would be the last row)\n")
    head = " | ".join(f"{n:,}" for n in sizes)
    print(f"| measure | what | {head} |\n|---|---|{'---|' * len(sizes)}")
    rng = np.random.default_rng(0)
    samples = {n: rng.standard_t(4, n) for n in sizes}
    for name in measures.names():
        for what, call in (("value", measures.get(name).value), ("coefficients", coefficients_of(name))):
            times = [best(call, samples[n], repetitions=3 if n > 10**5 else 10) for n in sizes]
            print(f"| {name} | {what} | " + " | ".join(f"{t / times[0]:,.0f}" for t in times) + " |", flush=True)
    ideal = [n * np.log(n) / (sizes[0] * np.log(sizes[0])) for n in sizes]
    print("| n log n | | " + " | ".join(f"{g:,.0f}" for g in ideal) + " |")


def coefficients_of(name):
    return lambda x: estimators.influence.coefficients(name, x)


def against_naive():
    print(f"\n## Against NumPy one-liners and leave-one-out by hand, n = {NAIVE_N:,}: times as fast\n")
    print("| measure | value | coefficients |\n|---|---|---|")
    x = np.random.default_rng(1).standard_t(4, NAIVE_N)
    for name, value in NAIVE.items():
        ours = measures.get(name).value
        if not np.isclose(value(x), ours(x), rtol=1e-9):
            raise AssertionError(f"{name}: {value(x)} against {ours(x)}")
        slow = pairwise_gini if name == "gini_deviation" else leave_one_out(value)
        by_value = best(value, x) / best(ours, x)
        by_coefficients = best(slow, x, repetitions=1) / best(coefficients_of(name), x)
        print(f"| {name} | {by_value:.2g} | {by_coefficients:,.0f} |", flush=True)


def against_skfolio(sizes):
    print("\n## Against skfolio's value of the same sample: times as fast\n")
    print(f"| measure | {' | '.join(f'{n:,}' for n in sizes)} |\n|---|{'---|' * len(sizes)}")
    rng = np.random.default_rng(2)
    for name, theirs in SKFOLIO.items():
        ours = measures.get(name).value
        x = rng.standard_t(4, 1000)
        expected = theirs(x) + (x.mean() if name == "cvar_deviation" else 0.0)
        factor = 0.5 * 999 / 1000 if name == "gini_deviation" else 1.0
        if not np.isclose(ours(x), factor * expected, rtol=1e-9):
            print(f"(skfolio's {name} is another quantity: {expected * factor} against {ours(x)})")
        ratios = []
        for n in sizes:
            x = rng.standard_t(4, n)
            ratios.append(best(theirs, x) / best(ours, x))
        print(f"| {name} | " + " | ".join(f"{r:.2g}" for r in ratios) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to 10^5 returns only")
    quick = parser.parse_args().quick
    sizes = [10**3, 10**4, 10**5] if quick else [10**3, 10**4, 10**5, 10**6]
    print(f"# Measures (numpy {np.__version__}, Python {sys.version.split()[0]})")
    growth(sizes)
    against_naive()
    against_skfolio(sizes)


if __name__ == "__main__":
    main()
