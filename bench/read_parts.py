"""What read_bench.py needs that is not built: other readers, Spark, and the tables. Each is fetched or made once."""
import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
JAR = "org.apache.hudi:hudi-spark3.4-bundle_2.12:0.14.0"
JAR_SHA256 = "f80922ef453fed3089d549d5a02d4c3c157f722a8fb3db099dbcc2c3a923c174"


def folder():
    deps = os.environ.get("TIDEMARK_DEPS") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tidemark")
    path = pathlib.Path(deps) / "bench"
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextlib.contextmanager
def locked():
    """Two benches that start at once must not make the same thing."""
    with open(folder() / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def venv(name, requirements):
    """The Python of a venv of its own."""
    path, wanted = folder() / name, HERE / requirements
    stamp = path / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != wanted.read_text():
        say(f"installing {requirements}")
        shutil.rmtree(path, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", path], check=True)
        subprocess.run([path / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "--no-deps",
                        "--require-hashes", "-r", wanted], check=True)
        shutil.copy(wanted, stamp)
    return str(path / "bin" / "python")


def readers():
    with locked():
        return venv("readers", "requirements-readers.txt")


def spark():
    """(Python, folder of jars) of Spark 3.4.3 with Hudi 0.14.0. Wants Maven and Java 17: scripts/bootstrap --tests."""
    with locked():
        python = venv("spark-3.4.3", "requirements-spark.txt")
        jars = folder() / "hudi-spark-0.14.0"
        if not (jars / ".complete").exists():
            say(f"fetching {JAR}")
            shutil.rmtree(jars, ignore_errors=True)
            subprocess.run(["mvn", "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy",
                            f"-Dartifact={JAR}", f"-DoutputDirectory={jars}"], check=True)
            for jar in jars.glob("*.jar"):
                got = hashlib.sha256(jar.read_bytes()).hexdigest()
                if got != JAR_SHA256:
                    raise RuntimeError(f"{jar.name} has sha256 {got}, expected {JAR_SHA256}")
            (jars / ".complete").touch()
        return python, str(jars)


def table(rows):
    """The table with so many base rows."""
    name = f"mor{rows // 1000000}m" if rows % 1000000 == 0 else f"mor{rows // 1000}k"
    path = folder() / name
    if not path.exists():
        python, jars = spark()
        with locked():
            if not path.exists():
                say(f"writing a table of {rows:,} rows with Spark (minutes, once)")
                part = folder() / f"{name}.part"
                shutil.rmtree(part, ignore_errors=True)
                subprocess.run([python, HERE / "big_table.py", "write", part, jars, str(rows)], check=True,
                               stdout=sys.stderr)
                part.rename(path)
    return path
