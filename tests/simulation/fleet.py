"""Which pipelines there are: a pure function of a seed and a size."""

from __future__ import annotations

import dataclasses
import random

BUCKETS = 4


@dataclasses.dataclass(frozen=True)
class Plan:
    """One pipeline: its topic, its table and how both are written."""

    name: str  # also of its topic and its table
    partitions: int
    replicas: int
    bucket: str | None  # None: a local folder
    sla_seconds: float
    rhythm: str  # steady, sawtooth, bursty, idle or stuck: see writers.py
    stamps: str  # create, append or backfill
    records_per_second: float
    commit_seconds: float  # mean time between commits
    retention_seconds: int | None  # None: unlimited


def make_fleet(size: int, seed: int, interval: float, brokers: int) -> list[Plan]:
    """Each kind is there in its share whatever the seed; the seed deals them out."""
    deal = random.Random(seed)
    rhythms = _deal(deal, size, {"steady": 60, "sawtooth": 14, "bursty": 12, "idle": 8, "stuck": 6})
    stamps = _deal(deal, size, {"create": 70, "append": 16, "backfill": 14})
    replicas = _deal(deal, size, {1: 70, min(3, brokers): 30})
    partitions = _deal(deal, size, {1: 25, 2: 25, 3: 30, 4: 20})
    stores = _deal(deal, size, {"s3": 75, "local": 25})
    retentions = _deal(deal, size, {None: 70, 3600: 30})
    plans = []
    for number in range(size):
        sla = max(15 * interval, 30.0) * deal.choice([1, 1.5, 2])
        rhythm = rhythms[number]
        mean = {"sawtooth": sla * deal.uniform(0.8, 1.3), "stuck": float("inf")}.get(
            rhythm, sla * deal.uniform(0.15, 0.45)
        )
        plans.append(
            Plan(
                name=f"t{number:03d}",
                partitions=partitions[number],
                replicas=replicas[number],
                bucket=f"lake{number % BUCKETS}" if stores[number] == "s3" else None,
                sla_seconds=round(sla, 3),
                rhythm=rhythm,
                stamps=stamps[number],
                records_per_second=deal.choice([0.5, 1.0, 2.0]),
                commit_seconds=mean,
                retention_seconds=retentions[number],
            )
        )
    return plans


def _deal(deal: random.Random, size: int, shares: dict) -> list:
    """`size` values in these shares (in percent), each at least once where there is room."""
    values = [value for value, share in shares.items() for _ in range(max(1, size * share // 100))]
    while len(values) < size:
        values.append(next(iter(shares)))
    deal.shuffle(values)
    return values[:size]
