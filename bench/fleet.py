#!/usr/bin/env python3
"""What a shared crawl costs: bench/fleet.py SEEN [PART]...

    join      pages/s of one worker with --join against one without, in turns
    scale     pages/s of 1, 2, 4 and 8 workers; all numbers in turns
    cpu       CPU of the Redis server per page: polite (one page per acknowledgement) and fast
    idle      CPU of the server with 100 workers that have nothing to do
    memory    bytes of Redis per queued URL and per host, of a crawl that was stopped
    (all of them)

The web is tests/sites/web.py: its answers take 20 ms, those on a new connection 40. Between the workers and Redis is
a relay that delays answers by 1 ms. The seen-set is on a server of its own, so that what is measured is
the frontier. Loads are such that a worker waits for the network, not for a processor, as crawls do; on a busy machine
the figures are lower bounds. Each line is printed as it belongs in docs/fleet.md."""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "sites")
sys.path.insert(0, HERE)
from fleet import free_port, wait_for_port  # noqa: E402

# A server that is not preempted: a slow command is then slow itself.
REALTIME = ["chrt", "--rr", "1"] if os.geteuid() == 0 and shutil.which("chrt") else []
ROUNDS = int(os.environ.get("ROUNDS", "3"))


def cpu_us(pid):
    return int(open(f"/proc/{pid}/task/{pid}/schedstat").read().split()[0]) / 1000


class Rig:
    """A web, a server for the frontier and one for the seen-set."""

    def __init__(self, pages, hosts, latency=20, redis_ms=1):
        self.folder = tempfile.mkdtemp(prefix="fleet-bench-")
        self.processes, self.pages = [], pages
        self.web, self.port, self.set = free_port(), free_port(), free_port()
        self.spawn(sys.executable, os.path.join(HERE, "web.py"), str(self.web), "/dev/null", str(pages), str(hosts),
                   "--latency", str(latency))
        self.server = self.spawn(*self.redis(self.port))
        self.spawn(*self.redis(self.set))
        for port in (self.web, self.port, self.set):
            wait_for_port(port)
        self.cli("config", "set", "slowlog-log-slower-than", "5000")
        near = self.port
        if redis_ms:
            near = free_port()
            self.spawn(sys.executable, os.path.join(HERE, "fleet.py"), "--relay", str(near), str(self.port), str(redis_ms))
            wait_for_port(near)
        self.address = f"redis://127.0.0.1:{near}/web"
        self.start = f"http://127.1.0.1:{self.web}/section-0/page-0.html"

    def redis(self, port):
        return [*REALTIME, "redis-server", "--port", str(port), "--save", "", "--dir", self.folder]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for p in self.processes:
            p.kill()
            p.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def spawn(self, *command):
        p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(p)
        return p

    def cli(self, *command):
        return subprocess.run(["redis-cli", "-p", str(self.port), *command], capture_output=True, text=True).stdout

    def info(self, field):
        return int(next(line.split(":")[1] for line in self.cli("info", "all").splitlines() if line.startswith(field + ":")))

    def status(self):
        out = subprocess.run([SEEN, "crawl", "status", "--json", self.address], capture_output=True)
        return json.loads(out.stdout) if out.returncode == 0 else {"pushed": 0}  # not created yet

    def worker(self, *more):
        return self.spawn(SEEN, "crawl", "-q", "--allow-private", "-o", "/dev/null", *more)

    def first(self, *more):
        return self.worker(self.start, "--scope", "all", *more)

    def shared(self, *more):
        return ["--join", self.address, "--filter", f"redis://127.0.0.1:{self.set}/web", *more]


def rate(join, connections=8):
    """Pages/s of one worker."""
    with Rig(3000, 200) as rig:
        options = ["--delay", "20ms", "--connections", str(connections)]
        began = time.monotonic()
        rig.first(*options, *(rig.shared() if join else [])).wait()
        return rig.pages / (time.monotonic() - began)


def join():
    rates = [(rate(False), rate(True)) for _ in range(ROUNDS)]
    ratio = max(b / a for a, b in rates)
    alone, shared = (max(r[i] for r in rates) for i in (0, 1))
    print(f"one worker: {alone:.0f} pages/s alone, {shared:.0f} with --join; best ratio of a pair {ratio:.2f}, "
          f"median {statistics.median(b / a for a, b in rates):.2f}", flush=True)


def together(n, most):
    """Pages/s of n workers, from when each has had time to get its share of the hosts, and before hosts run out. The
    web is the same for any number, with so few hosts that their robots.txt are soon fetched."""
    with Rig(3000 * most, 16 * most) as rig:
        options = rig.shared("--connections", "4")
        workers = [rig.first("--delay", "20ms", *options)]
        while rig.status()["pushed"] == 0:
            time.sleep(0.05)
        workers += [rig.worker(*options) for _ in range(n - 1)]
        time.sleep(3)
        before, began = rig.status()["done"], time.monotonic()
        time.sleep(4)
        after, ended = rig.status()["done"], time.monotonic()
        return (after - before) / (ended - began)


def scale():
    sizes = [int(n) for n in os.environ.get("WORKERS", "1 2 4 8").split()]
    rates = {n: [] for n in sizes}
    for _ in range(ROUNDS):
        for n in sizes:
            rates[n].append(together(n, max(sizes)))
    best = {n: max(rates[n]) for n in sizes}
    for n in sizes:
        print(f"{n} worker{'s' if n > 1 else ''}, 4 connections each: {best[n]:.0f} pages/s, "
              f"{best[n] / best[sizes[0]]:.2f} times one", flush=True)


def server_cpu(name, hosts, *options):
    with Rig(6000, hosts, latency=0, redis_ms=0) as rig:
        before = cpu_us(rig.server.pid)
        rig.first(*rig.shared(*options)).wait()
        used = (cpu_us(rig.server.pid) - before) / rig.pages
        slow = rig.cli("slowlog", "len").strip()
        print(f"server CPU, {name}: {used:.1f} us per page; commands over 5 ms: {slow}", flush=True)
        return used


def cpu():
    server_cpu("polite", 1500, "--delay", "300ms", "--connections", "64")
    server_cpu("fast", 12, "--delay", "0", "--connections", "16")


def load(rig, seconds):
    """Percent of a core that the server takes."""
    before, began = cpu_us(rig.server.pid), time.monotonic()
    time.sleep(seconds)
    return (cpu_us(rig.server.pid) - before) / 1e4 / (time.monotonic() - began)


def idle():
    with Rig(30, 1, latency=0, redis_ms=0) as rig:
        alone = load(rig, 5)
        rig.first("--delay", "20s", *rig.shared())
        while rig.status()["pushed"] == 0:
            time.sleep(0.1)
        for _ in range(100):
            rig.worker(*rig.shared())
        time.sleep(15)
        print(f"100 idle workers: {load(rig, 20):.2f}% of a core of the server, of which {alone:.2f} without any", flush=True)


def queued(pages, hosts):
    with Rig(pages, hosts, latency=0, redis_ms=0) as rig:
        worker = rig.first("--delay", "0", *rig.shared())
        while rig.status()["pushed"] < pages * 0.8:
            time.sleep(0.2)
        subprocess.run([SEEN, "crawl", "stop", rig.address])
        worker.wait()
        s = rig.status()
        keys = [k for k in rig.cli("--scan", "--pattern", "seencrawl:*").split()
                if ":r:" not in k and ":s:" not in k.split("}")[0]]
        out = subprocess.run(["redis-cli", "-p", str(rig.port)], capture_output=True, text=True,
                             input="".join(f"memory usage {k} samples 0\n" for k in keys)).stdout
        return s["waiting"], s["hosts_ready"], sum(map(int, out.split())), s["queue_bytes"]


def memory():
    for pages, hosts in ((60000, 100), (60000, 6000)):
        urls, ready, used, elements = queued(pages, hosts)
        print(f"memory: {urls} URLs of {ready} hosts take {used} bytes in the keys of their buckets, robots.txt apart: "
              f"{used / urls:.1f} per URL; elements {elements / urls:.1f} per URL, the rest {(used - elements) / ready:.0f} per host",
              flush=True)


PARTS = {"join": join, "scale": scale, "cpu": cpu, "idle": idle, "memory": memory}

if __name__ == "__main__":
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK) or not set(sys.argv[2:]) <= set(PARTS):
        sys.exit(__doc__)
    SEEN = os.path.abspath(sys.argv[1])
    for part in sys.argv[2:] or PARTS:
        PARTS[part]()
