"""What read_bench.py measured, as goals and as a text to read."""

MEGABYTE = 1 << 20
COLUMNS = [("contestant", 48), ("wall", 10), ("min-max", 20), ("CPU", 9), ("RSS MB", 8), ("rows", 11)]


def goals(results):
    """(what, how much is wanted, what was reached, whether that is enough) of what took part."""
    rows, found = results["rows"], []

    def ratio(what, above, below, factor, most, name="wall_s"):
        if above in rows and below in rows:
            reached = factor * rows[above][name] / rows[below][name]
            found.append((what, f"<= {most}x", f"{reached:.2f}x", reached <= most))
    ratio("all columns, event-time, against the floor", "all event-time", "floor", 1, 1.5)
    ratio("all columns, hudi-0.14, against the floor", "all hudi-0.14", "floor", 1, 1.5)
    for key in ("sums event-time", "sums hudi-0.14"):
        if key in rows and "spark" in rows:
            reached = rows["spark"]["wall_s"] / rows[key]["wall_s"]
            found.append((f"count and three sums, {key[5:]}, faster than warm Spark", ">= 5x", f"{reached:.1f}x",
                          reached >= 5))
    ratio("peak memory of all columns against hudi-rs", "all event-time", "hudi-rs", 1, 0.33, "max_rss_bytes")
    ratio("audit of all profiles against one full read", "audit", "all event-time", 1, 1.5)
    rate = results["log_rates"].get("losing records")
    if rate:
        found.append(("log scan when records lose", ">= 300 MB/s", f"{rate:.0f} MB/s", rate >= 300))
    # Linear, with a fifth for the noise: ten times the rows in at most twelve times the time.
    ratio("all columns, time for ten times the table", "all event-time", "tenth", 1, 12)
    ratio("count and three sums, time for ten times the table", "sums event-time", "tenth sums", 1, 12)
    return found


def text(results):
    machine = results["machine"]
    lines = [f"{results['command']}   commit {results['commit']}   {results['time']}",
             f"{machine['cpus']} x {machine['cpu']}, Linux {machine['kernel']}, load {results['load_before']:.1f} ->"
             f" {results['load_after']:.1f}", "",
             "".join(name.ljust(width) if i == 0 else name.rjust(width) for i, (name, width) in enumerate(COLUMNS))]
    lines += [line(row) for row in results["rows"].values()]
    if "spark_first_s" in results:
        lines.append(f"Spark's first query, its files and classes cold: {results['spark_first_s']:.1f} s")
    lines.append("records of the logs, a core: " + ", ".join(
        f"{what} {rate:.0f} MB/s" for what, rate in results["log_rates"].items()))
    if results["scale"] == "full":  # with few rows the ratios say nothing
        lines += [""] + [f"{'reached' if is_reached else 'MISSED':8}{reached:>9}  of {wanted:12} {what}"
                         for what, wanted, reached, is_reached in goals(results)]
    return "\n".join(lines)


def line(row):
    spread = f"{row['wall_s_min']:.2f}-{row['wall_s_max']:.2f} s" if row["runs"] > 1 else "once"
    cells = [row["label"], f"{row['wall_s']:.2f} s", spread, f"{row['cpu_s']:.2f} s",
             f"{row['max_rss_bytes'] / MEGABYTE:.0f}", "" if row["read_rows"] is None else f"{row['read_rows']:,}"]
    return "".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                   for i, (cell, (_, width)) in enumerate(zip(cells, COLUMNS)))
