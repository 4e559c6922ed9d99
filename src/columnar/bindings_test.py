#!/usr/bin/env python3
"""bindings_test.py PROBE PARQUET-FILE: no symbol of OpenSSL, libcurl, simdjson or the program comes from Arrow's
libraries, and none of theirs from ours. Two OpenSSL versions mixed in one process is what this prevents."""
import glob
import os
import re
import subprocess
import sys
import tempfile

OURS = re.compile(r"(libssl|libcrypto|libcurl|libsimdjson|libssh2|libzstd|libsnappy|libdeflate)[.\w-]*$")
# librdkafka is inside the probe. Arrow does take something from the probe: what the compiler copied there of the C and
# C++ libraries' variables, such as stderr.
PROBE = re.compile(r"columnar_bindings_probe$")
ARROWS = re.compile(r"(libarrow|libparquet)[.\w]*$")
LINE = re.compile(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: \w+ symbol `([^']+)'")


def main():
    probe, file = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        # The file name comes from the linker: one per process id.
        env = dict(os.environ, LD_BIND_NOW="1", LD_DEBUG="bindings", LD_DEBUG_OUTPUT=os.path.join(folder, "bindings"))
        run = subprocess.run([probe, file], env=env, capture_output=True, text=True, timeout=100)
        print(run.stdout, run.stderr)
        text = "".join(open(name, errors="replace").read() for name in glob.glob(folder + "/bindings*"))
    if run.returncode != 0:
        sys.exit(f"the probe ended with {run.returncode}")
    pairs = [(a, b, symbol) for a, b, symbol in LINE.findall(text)]
    wrong = [(a, b, symbol) for a, b, symbol in pairs
             if ((OURS.search(a) or PROBE.search(a)) and ARROWS.search(b)) or (ARROWS.search(a) and OURS.search(b))]
    from_arrow = sum(1 for a, b, _ in pairs if ARROWS.search(a) and ARROWS.search(b))
    from_ours = sum(1 for a, b, _ in pairs if OURS.search(a) and OURS.search(b))
    print(f"{len(pairs)} bindings, {from_arrow} inside Arrow, {from_ours} inside ours, {len(wrong)} across")
    # Numbers that show that the listing was really taken and read.
    if from_arrow < 1000 or from_ours < 1000:
        sys.exit("the dynamic linker's listing is not as expected")
    for a, b, symbol in wrong[:20]:
        print(f"{os.path.basename(a)} takes {symbol} from {os.path.basename(b)}")
    sys.exit(1 if wrong else 0)


main()
