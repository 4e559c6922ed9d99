"""What run_bench.py measured, as numbers to compare and as a text to read."""
import statistics

MEGABYTE = 1 << 20


def summary(runs, partitions):
    """Several runs of one contestant as one row. `partitions`: how many the scenario has; a contestant that was asked
    about fewer is extrapolated to all: what it spent after its client was ready is multiplied."""
    first = runs[0]
    factor = partitions / first["asked"]

    def extrapolated(run, name):
        return run[f"idle_{name}"] + (run[name] - run[f"idle_{name}"]) * factor
    walls = [extrapolated(run, "wall_ms") for run in runs]
    median = {name: statistics.median(run[name] for run in runs) for name in ("received_bytes", "answered")}
    errors = [run["oldest_error_ms"] for run in runs]
    return {
        "key": first["key"], "label": first["label"], "runs": len(runs), "asked": first["asked"],
        "is_extrapolated": factor > 1,
        "wall_ms": statistics.median(walls), "wall_ms_min": min(walls), "wall_ms_max": max(walls),
        "cpu_ms": statistics.median(extrapolated(run, "cpu_ms") for run in runs),
        "max_rss_bytes": max(run["max_rss_bytes"] for run in runs),
        "rss_above_idle_bytes": max(run["max_rss_bytes"] - run["idle_rss_bytes"] for run in runs),
        "received_bytes_per_partition": median["received_bytes"] / first["asked"],
        "decided_share": median["answered"] / first["asked"],
        "decided_share_min": min(run["answered"] for run in runs) / first["asked"],
        "wrong": max(run["wrong"] for run in runs),
        # None: no answer at all, which the reference design reports as no lag.
        "oldest_error_ms": None if None in errors else max(errors),
    }


def row_of(scenario, key):
    return next((row for row in scenario["rows"] if row["key"] == key), None)


def contradictions(results):
    """What must not happen whatever the speed: the limit and ours are right about everything."""
    found = []
    for scenario in results["scenarios"]:
        for key in ("raw", "tidemark", "rdkafka"):
            row = row_of(scenario, key)
            if row is None:
                continue
            if row["wrong"] or row["oldest_error_ms"]:
                found.append(f"{scenario['scenario']}: {row['label']} gave {row['wrong']} wrong answers")
            if row["decided_share_min"] < 1:
                found.append(f"{scenario['scenario']}: {row['label']} left partitions undecided")
    return found


def goals(results):
    """(what, how much is wanted, what was reached, whether that is enough), for the scenarios ours took part in."""
    found = []

    def goal(scenario, what, wanted, reached, is_reached):
        found.append((f"{scenario['scenario']}: {what}", wanted, reached, is_reached))
    for scenario in results["scenarios"]:
        ours, raw = row_of(scenario, "tidemark"), row_of(scenario, "raw")
        if ours is None:
            continue
        batch = scenario["batch_bytes"]
        if batch is None:
            ratio = ours["wall_ms"] / raw["wall_ms"]
            goal(scenario, "time against one raw round", "<= 3x", f"{ratio:.1f}x", ratio <= 3)
            continue
        for name, what, most in (("wall_ms", "time", 1.3), ("cpu_ms", "CPU", 2)):
            ratio = ours[name] / raw[name]
            goal(scenario, f"{what} against raw requests", f"<= {most}x", f"{ratio:.2f}x", ratio <= most)
        each = row_of(scenario, "each")
        if each is not None:
            ratio = each["wall_ms"] / ours["wall_ms"]
            goal(scenario, "faster than one by one", ">= 20x", f"{ratio:.0f}x", ratio >= 20)
        share = ours["decided_share_min"]
        goal(scenario, "decided", "100%", f"{100 * share:.1f}%", share == 1)
        error = ours["oldest_error_ms"]
        goal(scenario, "error of the oldest record", "0 ms", f"{error} ms", error == 0 and ours["wrong"] == 0)
        ratio = ours["received_bytes_per_partition"] / batch
        goal(scenario, "received against one batch", "<= 2x", f"{ratio:.1f}x", ratio <= 2)
        above = ours["rss_above_idle_bytes"] / MEGABYTE
        goal(scenario, "memory above the idle client", "<= 50 MB", f"{above:.0f} MB", above <= 50)
    found += growth(results["scenarios"])
    own = results["start_up_ms"]["freshness"] - results["start_up_ms"]["probe"]
    found.append(("freshness on a local table, above what its probe takes alone", "<= 50 ms", duration(own), own <= 50))
    for name, body in results["commit_bodies"].items():
        if name == "JsonCommit/10000":
            found.append((f"checkpoint of a commit body of {body['bytes'] / 1e6:.1f} MB", "<= 10 ms",
                          duration(body["ms"]), body["ms"] <= 10))
    return found


def growth(scenarios):
    """The same batches in at least ten times the partitions: the time may grow as much."""
    found = []
    asked = [scenario for scenario in scenarios if scenario["batch_bytes"] is not None and row_of(scenario, "tidemark")]
    for few in asked:
        for many in asked:
            if few["batch_bytes"] != many["batch_bytes"] or few["partitions"] < 10_000:
                continue
            factor = many["partitions"] / few["partitions"]
            if factor < 10:
                continue
            ratio = row_of(many, "tidemark")["wall_ms"] / row_of(few, "tidemark")["wall_ms"]
            found.append((f"{many['scenario']}: time against {few['partitions']:,} partitions", f"<= {factor:.0f}x",
                          f"{ratio:.1f}x", ratio <= factor))
    return found


COLUMNS = [("contestant", 35), ("wall", 10), ("min-max", 20), ("CPU", 9), ("RSS MB", 7), ("+idle", 6),
           ("KB/part.", 9), ("decided", 8), ("oldest off by", 14), ("wrong", 6), ("wall/raw", 9), ("CPU/raw", 8)]


def text(results):
    machine = results["machine"]
    lines = [f"{results['command']}   commit {results['commit']}   {results['time']}",
             f"{machine['cpus']} x {machine['cpu']}, Linux {machine['kernel']}, load {machine['load'][0]:.1f} at start;"
             " probe and brokers share the machine", ""]
    lines += ["whole program, from the shell: " + ", ".join(
        f"{name} {duration(ms)}" for name, ms in results["start_up_ms"].items()),
              "checkpoint of one commit body: " + ", ".join(
        f"{name} {duration(body['ms'])} ({body['bytes'] / 1e6:.2f} MB)"
        for name, body in results["commit_bodies"].items()), ""]
    for scenario in results["scenarios"]:
        lines.append(f"{scenario['scenario']}   (load {scenario['load_before']:.1f} -> {scenario['load_after']:.1f})")
        lines.append("".join(name.ljust(width) if i == 0 else name.rjust(width)
                             for i, (name, width) in enumerate(COLUMNS)))
        lines += [line(row, row_of(scenario, "raw")) for row in scenario["rows"]]
        lines.append("")
    lines.append("*N: asked about N partitions only, times multiplied to all. min-max: of several runs. +idle: most"
                 " memory above the idle client, MB.")
    lines.append("KB/part.: received through sockets. oldest off by: reported oldest record against the truth.")
    if results["scale"] not in ("full", "wide"):
        return "\n".join(lines)  # with few partitions the ratios say nothing
    lines += [""] + [f"{'reached' if is_reached else 'MISSED':8}{reached:>9}  of {wanted:9} {what}"
                     for what, wanted, reached, is_reached in goals(results)]
    return "\n".join(lines).rstrip()


def duration(ms):
    if ms >= 10_000:
        return f"{ms / 1000:,.1f} s"
    if ms >= 100 or ms == 0:
        return f"{ms:,.0f} ms"
    return f"{ms:.1f} ms" if ms >= 1 else f"{ms:.2f} ms"


def line(row, raw):
    def ratio(name):
        return f"{row[name] / raw[name]:,.1f}" if raw and raw[name] else "-"
    label = row["label"] + (f" *{row['asked']}" if row["is_extrapolated"] else "")
    spread = f"{duration(row['wall_ms_min'])}-{duration(row['wall_ms_max'])}" if row["runs"] > 1 else "once"
    error = row["oldest_error_ms"]
    cells = [label, duration(row["wall_ms"]), spread, duration(row["cpu_ms"]),
             f"{row['max_rss_bytes'] / MEGABYTE:.0f}", f"{row['rss_above_idle_bytes'] / MEGABYTE:.0f}",
             f"{row['received_bytes_per_partition'] / 1024:.1f}", f"{100 * row['decided_share']:.1f}%",
             "no answer" if error is None else duration(error), str(row["wrong"]), ratio("wall_ms"), ratio("cpu_ms")]
    return "".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                   for i, (cell, (_, width)) in enumerate(zip(cells, COLUMNS)))
