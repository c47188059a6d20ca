#!/usr/bin/env python3
"""What a shared crawl costs, on this machine: bench/fleet.py SEEN

    one worker    pages/s with --join against without, interleaved, the median of three
    server        CPU of the Redis server per page, filter included (schedstat of its main thread)
    memory        bytes of Redis per queued URL and per host, from a crawl that is paused
    workers       pages/s of 1 and 2 workers

The web is tests/sites/web.py: a Python server, which is the limit of the pages/s here."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "sites"))
from fleet import free_port, wait_for_port  # noqa: E402

SEEN = os.path.abspath(sys.argv[1])
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "sites")


def cpu_ns(pid):
    return int(open(f"/proc/{pid}/task/{pid}/schedstat").read().split()[0])


def info(port, field):
    out = subprocess.run(["redis-cli", "-p", str(port), "info", "all"], capture_output=True, text=True).stdout
    return int(next(line.split(":")[1] for line in out.splitlines() if line.startswith(field + ":")))


class Rig:
    def __init__(self, pages, hosts):
        self.folder = tempfile.mkdtemp(prefix="seen-bench-")
        self.port, self.redis = free_port(), free_port()
        null = subprocess.DEVNULL
        self.web = subprocess.Popen([sys.executable, os.path.join(HERE, "web.py"), str(self.port), "/dev/null",
                                     str(pages), str(hosts)], stderr=null)
        self.server = subprocess.Popen(["redis-server", "--port", str(self.redis), "--save", "", "--dir", self.folder],
                                       stdout=null)
        wait_for_port(self.port)
        wait_for_port(self.redis)
        self.start = f"http://127.1.0.1:{self.port}/section-0/page-0.html"

    def close(self):
        for p in (self.web, self.server):
            p.kill()
            p.wait()

    def crawl(self, *more, wait=True):
        p = subprocess.Popen([SEEN, "crawl", "-q", "--allow-private", "-o", "/dev/null", *more])
        return p.wait() if wait else p


def one_worker():
    rates = {"alone": [], "join": []}
    cpu = []
    for i in range(3):
        for what in rates:
            rig = Rig(4000, 50)
            options = [rig.start, "--scope", "all", "--delay", "0"]
            if what == "join":
                options += ["--join", f"redis://127.0.0.1:{rig.redis}/web"]
            before, began = cpu_ns(rig.server.pid), time.monotonic()
            rig.crawl(*options)
            rates[what].append(4000 / (time.monotonic() - began))
            if what == "join":
                cpu.append((cpu_ns(rig.server.pid) - before) / 4000 / 1000)
            rig.close()
    alone, join = (statistics.median(rates[w]) for w in ("alone", "join"))
    print(f"one worker: {alone:.0f} pages/s alone, {join:.0f} with --join, ratio {join / alone:.2f}; "
          f"server CPU {statistics.median(cpu):.1f} us per page with 16 URLs found per page, filter included")


def memory(pages, hosts):
    rig = Rig(pages, hosts)
    address = f"redis://127.0.0.1:{rig.redis}/web"
    worker = rig.crawl(rig.start, "--scope", "all", "--delay", "0", "--join", address, wait=False)
    time.sleep(4)
    subprocess.run([SEEN, "crawl", "stop", address])
    worker.wait()
    status = json.loads(subprocess.run([SEEN, "crawl", "status", "--json", address], capture_output=True).stdout)
    used = 0
    out = subprocess.run(["redis-cli", "-p", str(rig.redis), "--scan", "--pattern", "seencrawl:*"],
                         capture_output=True, text=True).stdout.split()
    lists = sum(int(subprocess.run(["redis-cli", "-p", str(rig.redis), "memory", "usage", k, "samples", "0"],
                                   capture_output=True, text=True).stdout or 0) for k in out if ":q:" in k)
    robots = [k for k in out if ":r:" in k]
    used = info(rig.redis, "used_memory")
    print(f"memory: {status['waiting']} URLs of {status['hosts_ready']} hosts queued: {status['queue_bytes'] / max(1, status['waiting']):.1f} "
          f"bytes of elements per URL, {lists / max(1, status['waiting']):.1f} with their keys, {len(robots)} robots.txt, {used} bytes used in all")
    rig.close()


def workers():
    for n in (1, 2):
        rig = Rig(4000, 200)
        address = f"redis://127.0.0.1:{rig.redis}/web"
        began = time.monotonic()
        first = rig.crawl(rig.start, "--scope", "all", "--delay", "100ms", "--connections", "4", "--join", address, wait=False)
        time.sleep(0.5)
        rest = [rig.crawl("--join", address, "--connections", "4", wait=False) for _ in range(n - 1)]
        for p in [first, *rest]:
            p.wait()
        print(f"{n} worker(s), 4 connections each, delay 100 ms: {4000 / (time.monotonic() - began):.0f} pages/s")
        rig.close()


one_worker()
memory(60000, 30)
memory(60000, 3000)
workers()
