"""One run whose episodes are played on a Ray cluster of two nodes of this machine, one of which is killed on the way.

python -m tests.rollouts.two_nodes FOLDER. A process of its own, for Ray listens to signals and warns of itself. Prints
as JSON how many nodes there were before and after, by whom episodes were played, and which runs have other bytes than
the one without Ray.
"""

import json
import logging
import os
import random
import sys
from pathlib import Path
from unittest.mock import patch

from steadyrl.ground.cluster import LOOPBACK_ONLY

os.environ.update(LOOPBACK_ONLY)

import ray
from ray.cluster_utils import Cluster

from steadyrl.policies import RandomPolicy
from steadyrl.rollouts import Collector, EpisodeError, collector, workers
from steadyrl.runs import Callback, train
from steadyrl.runs.view import Quiet
from tests.helpers.children import until
from tests.helpers.ray_starts import NOT_STARTED
from tests.helpers.run_folders import content
from tests.rollouts.faulty import Lengths, clock_of
from tests.runs import envs

HOST = {"node_ip_address": "127.0.0.1", "num_cpus": 1, "include_dashboard": False}
FIELDS = {"n": 12, "updates": 12, "checkpoint_every": 2, "evaluate_every": 4, "evaluate_episodes": 6}


def alive():
    return sum(node["Alive"] for node in ray.nodes())


class Loses(Callback):
    """Kills a node after the third update, without a word."""

    def __init__(self, cluster, node):
        self.cluster, self.node = cluster, node

    def updated(self, progress):
        if progress.update == 3:
            self.cluster.remove_node(self.node, allow_graceful=False)


class Interrupts(Callback):
    """Ctrl-C after an update."""

    def __init__(self, update):
        self.update = update

    def updated(self, progress):
        if progress.update == self.update:
            raise KeyboardInterrupt


def by_ray(folder, *callbacks, **more):
    arguments = {"engine": "ray", "view": Quiet(), "callbacks": list(callbacks), **FIELDS, **more}
    train(envs.walk, out=folder, **arguments)


def interrupted(folder, times):
    """By Ray, by processes and by one process in turn, stopped at random on its way."""
    chance = random.Random(times)
    stops = sorted(chance.sample(range(1, FIELDS["updates"]), times))
    for k, stop in enumerate(stops):
        others = [{}, {"engine": "local", "workers": 2}, {"engine": "local", "workers": 3}, {"engine": "local"}]
        try:
            by_ray(folder, Interrupts(stop), **others[k % 4])
        except KeyboardInterrupt:
            continue
        raise AssertionError(f"not stopped at {stop}")
    by_ray(folder)


def hanging(marks):
    """Does a worker of Ray that hangs get replaced, and an episode that always raises get named?"""
    marks.mkdir()
    options = {"fault": "hangs", "marks": marks, "engine": "ray", "worker_timeout": 40.0}
    policy = RandomPolicy(Lengths.action_space)
    together, alone = Collector("Faulty-v0", **options), Collector("Faulty-v0", fault="hangs", marks=marks)
    with (
        patch.multiple(workers, time=clock_of(marks), LOOKS=400),
        patch.object(workers, "ATTEMPTS", 10**6),  # one that is only slow may be taken for hanging too
    ):
        found = together.collect(policy, 12, 5, 0)
    together.close()
    right = alone.collect(policy, 12, 5, 0)
    always = Collector("Faulty-v0", fault="raises", marks=marks, once=False, engine="ray")
    try:
        always.collect(policy, 12, 5, 0)
    except EpisodeError as error:
        raised = str(error)
    always.close()
    return {
        "hung": len(list(marks.glob("hangs-*"))),
        "same": bool((found.rewards == right.rewards).all()),
        "raised": raised,
    }


def main():
    at = Path(sys.argv[1])
    collector.START = collector.WORTH = 0.0
    train(envs.walk, out=at / "alone", view=Quiet(), **FIELDS)
    try:
        cluster = Cluster(initialize_head=True, head_node_args=HOST)
        node = cluster.add_node(**HOST)
    except Exception as error:
        if "timed out during startup" not in str(error):
            raise
        sys.exit(NOT_STARTED)
    ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    nodes = [alive()]
    interrupted(at / "interrupted", 4)
    faults = hanging(at / "marks")
    by_ray(at / "lost", Loses(cluster, node))
    until(lambda: alive() < nodes[0], "Ray itself to notice it")
    nodes.append(alive())
    expected = content(at / "alone")
    differing = [name for name in ("interrupted", "lost") if content(at / name) != expected]
    sys.stdout.write(json.dumps({"nodes": nodes, "differing": differing, **faults}) + "\n")
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main()
