"""A study on a Ray cluster of three nodes on this machine, one of which is killed while it works.

python -m tests.faults.three_nodes STUDY.toml OUT. Prints how many nodes there were, before and after, and how many runs
were finished.
"""

import json
import logging
import os
import sys
import threading
from pathlib import Path

from steadyrl.ground.cluster import LOOPBACK_ONLY

os.environ.update(LOOPBACK_ONLY)

import ray
from ray.cluster_utils import Cluster

import tests.faults.command  # noqa: F401  counts the executions
from steadyrl.runs.toml import read_file
from steadyrl.studies import run
from steadyrl.studies.board import Board
from steadyrl.studies.study import study_from
from tests.helpers.children import until

HOST = {"node_ip_address": "127.0.0.1", "num_cpus": 1, "include_dashboard": False}


def alive():
    return sum(node["Alive"] for node in ray.nodes())


def lose(cluster, node, out, counts):
    """Kill a node without a word once runs are on their way."""
    until(lambda: len(list(out.glob("runs/*/metrics.jsonl"))) >= 20, "runs on their way")
    written = sum(path.stat().st_size for path in out.glob("runs/*/metrics.jsonl"))
    until(lambda: sum(path.stat().st_size for path in out.glob("runs/*/metrics.jsonl")) > written, "their progress")
    counts.append(alive())
    cluster.remove_node(node, allow_graceful=False)
    until(lambda: alive() < counts[0], "the loss of a node")
    counts.append(alive())


def main():
    out = Path(sys.argv[2])
    study = study_from(read_file(Path(sys.argv[1])), "study")
    cluster = Cluster(initialize_head=True, head_node_args=HOST)
    nodes = [cluster.add_node(**HOST) for _ in range(2)]
    ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    counts, board = [], Board(quiet=True)
    killer = threading.Thread(target=lose, args=(cluster, nodes[1], out, counts), daemon=True)
    killer.start()
    run(study, out, engine="ray", board=board)
    killer.join()
    sys.stdout.write(json.dumps({"nodes": counts, "finished": board.count("finished")}) + "\n")
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main()
