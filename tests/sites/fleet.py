#!/usr/bin/env python3
"""Crawls a generated web (web.py) with several workers, some of which die, and compares the outputs
and the web server's log with the truth.

    fleet.py SEEN [OPTION]...
      --pages N --hosts N --workers N   the web and the fleet (2000, 20, 3)
      --kills N      kill -9 of a random worker, each replaced by a new one
      --stops N      SIGSTOP for more than a lease, then SIGCONT
      --cuts N       a worker is cut off from Redis for more than a lease: its connections stall
      --delay MS     between two requests to one host; every gap in the web server's log is checked
      --connect MS   connections take up to so long; --close N: every Nth kept one is closed unanswered
      --latency MS   of the answers
      --clocks LIB   workers and Redis have clocks that are wrong by an hour and jump (LIB: tests/fault/clock.c)
      --lease MS     (600)
      --seed N       of the web and of the events
      --max-pages N, --depth N, --options "..."   of the crawl
      --redis PORT   use this server instead of one of its own
      --pace MS      between two events (150)

Prints one line of figures. Status 1: a URL was lost, a gap was too short, or the crawl did not end."""
import argparse
import asyncio
import bisect
import collections
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


held = []  # UDP sockets: as long as this program runs, no other test gets their ports


def free_port():
    """Below the ports that the kernel gives to connections."""
    while True:
        port, guard = random.randrange(10000, 20000), socket.socket(type=socket.SOCK_DGRAM)
        try:
            guard.bind(("127.0.0.1", port))
            with socket.socket() as s:
                s.bind(("127.0.0.1", port))
        except OSError:
            guard.close()
            continue
        held.append(guard)
        return port


def wait_for_port(port, host="127.0.0.1"):
    for _ in range(400):
        try:
            socket.create_connection((host, port), 0.2).close()
            return
        except OSError:
            time.sleep(0.025)
    sys.exit(f"nothing listens on port {port}")


async def relay(port, target, ms=0):
    """Passes bytes on, those of the answers so many milliseconds later. Stopped, it is a partition."""
    loop = asyncio.get_running_loop()

    async def pump(reader, writer, delay):
        while data := await reader.read(1 << 16):
            loop.call_later(delay, writer.write, data)
        loop.call_later(delay, writer.close)

    async def accept(reader, writer):
        there = await asyncio.open_connection("127.0.0.1", target)
        await asyncio.gather(pump(reader, there[1], 0), pump(there[0], writer, ms / 1000), return_exceptions=True)

    await (await asyncio.start_server(accept, "127.0.0.1", port, backlog=1000)).serve_forever()


class Fleet:
    def __init__(self, args):
        self.args, self.rng = args, random.Random(args.seed)
        self.folder = tempfile.mkdtemp(prefix="seen-fleet-")
        self.processes, self.workers, self.outputs, self.deaths, self.relays = [], [], [], 0, {}
        self.failovers, self.resharded = 0, 0
        self.cuts = []  # (worker, from, to): what it requested then may be requested again
        self.web_port = free_port()
        self.log = os.path.join(self.folder, "log")
        self.spawn([sys.executable, os.path.join(HERE, "web.py"), str(self.web_port), self.log,
                    str(args.pages), str(args.hosts), str(args.seed), "--connect", str(args.connect),
                    "--close", str(args.close), "--latency", str(args.latency), "--network", args.network], "web")
        self.redis = args.redis or free_port()
        if not args.redis and not args.address:
            self.spawn(["redis-server", "--port", str(self.redis), "--bind", "127.0.0.1", "--save", "",
                        "--appendonly", "no", "--dir", self.folder], env=self.clock(-1))
        self.address = args.address or f"redis://127.0.0.1:{self.redis}/web"
        if not args.address:
            wait_for_port(self.redis)
        wait_for_port(self.web_port, f"{args.network}.0.1")
        urls = subprocess.run([sys.executable, os.path.join(HERE, "web.py"), "--urls", str(self.web_port),
                               str(args.pages), str(args.hosts), str(args.seed), "--network", args.network],
                              capture_output=True, text=True, check=True)
        self.truth = urls.stdout.split()

    def spawn(self, command, place=None, **more):
        p = subprocess.Popen(self.args.inside(place, command), stdout=subprocess.DEVNULL, stderr=more.pop("stderr", subprocess.DEVNULL), **more)
        self.processes.append(p)
        return p

    def clock(self, hours):
        """An environment with a wrong time of day, on request."""
        environment = dict(os.environ)
        if self.args.clocks:
            environment.update(LD_PRELOAD=self.args.clocks, CLOCK_SHIFT=str(3600 * hours))
        return environment

    def worker(self, first=False):
        n = len(self.outputs)
        output = os.path.join(self.folder, f"pages.{n}.jsonl")
        self.outputs.append(output)
        near = self.near() if self.args.cuts else None
        address = self.address.replace(f":{self.redis}/", f":{near[0]}/") if near else self.address
        command = [self.args.seen, "crawl", "--join", address,
                   "--allow-private", "-o", output, "--connections", str(self.args.connections), "-H", f"X-Worker: {n}",
                   *self.args.local.split()]
        if self.args.connect:
            command += ["--proxy", f"socks5h://127.0.0.1:{self.web_port}"]
        if first:
            command += [self.truth[0], "--scope", "all", "--delay", f"{self.args.delay}ms",
                        "--lease", f"{self.args.lease}ms"] + self.args.options.split()
            if self.args.max_pages:
                command += ["--max-pages", str(self.args.max_pages)]
            if self.args.depth is not None:
                command += ["--depth", str(self.args.depth)]
        environment = self.clock(n % 3 - 1)
        if self.args.without:
            environment["SEEN_FLEET_WITHOUT"] = self.args.without
        if self.args.stall and len(self.outputs) == 1:
            environment["SEEN_FLEET_STALL"] = f"{self.args.stall}:{self.rng.randrange(8, 20)}"
        if self.args.die and self.deaths < self.args.deaths:
            self.deaths += 1
            environment["SEEN_FLEET_DIE"] = f"{self.args.die}:{self.rng.randrange(2, 8)}"
        self.workers.append(self.spawn(command, f"worker{n}", env=environment,
                                       stderr=open(os.path.join(self.folder, f"err.{n}"), "w")))

        if near:
            self.relays[self.workers[-1]] = near[1]

    def near(self):
        """A way to Redis that can be cut."""
        port = free_port()
        process = self.spawn([sys.executable, os.path.abspath(__file__), "--relay", str(port), str(self.redis)])
        wait_for_port(port)
        return port, process

    def live(self):
        return [p for p in self.workers if p.poll() is None]

    def until_status(self, text, *more):
        deadline = time.monotonic() + self.args.timeout
        while time.monotonic() < deadline:
            out = subprocess.run([self.args.seen, "crawl", "status", self.address, *more], capture_output=True, text=True)
            if text in out.stdout:
                return
            time.sleep(0.05)
        sys.exit(f"status has no {text!r}: {out.stdout}{out.stderr}")

    def starve(self):
        """The server has no memory when the links of the first page arrive, and gets some later."""
        web = self.processes[0]
        web.send_signal(signal.SIGSTOP)
        self.worker(first=True)
        self.until_status('"pushed": 1,', "--json")
        subprocess.run(["redis-cli", "-p", str(self.redis), "config", "set", "maxmemory", "1"], check=True)
        web.send_signal(signal.SIGCONT)
        self.until_status("full: ")
        subprocess.run(["redis-cli", "-p", str(self.redis), "config", "set", "maxmemory", "0"], check=True)

    def cut(self, worker, after_ms=0):
        """From now on the pages in flight of a worker may be lost, and those of 250 ms that were not
        acknowledged."""
        now = time.monotonic_ns()
        self.cuts.append((self.workers.index(worker), now - 250_000_000, now + after_ms * 1_000_000))

    def fail_over(self, kill):
        """A server is lost. Workers notice after a moment, and request nothing while it does not
        answer."""
        self.failovers += bool(self.live())
        for worker in self.live():
            self.cut(worker, 500)
        kill()

    def events(self):
        """Kills and stops workers while there is work."""
        args, stopped = self.args, []
        events = ["kill"] * args.kills + ["stop"] * args.stops + ["cut"] * args.cuts
        self.rng.shuffle(events)
        while events or stopped:
            time.sleep(args.pace / 1000 * self.rng.uniform(0.3, 1.7))
            now = time.monotonic()
            for entry in [s for s in stopped if now >= s[1]]:
                entry[2].send_signal(signal.SIGCONT)
                stopped.remove(entry)
            live = [p for p in self.live() if p not in [s[0] for s in stopped]]
            if not live and not stopped:
                return len(events)
            if not events or not live:
                continue
            p = self.rng.choice(live)
            event = events.pop()
            self.cut(p, 500 if event == "cut" else 0)  # as in fail_over
            if event == "kill":
                p.kill()
                p.wait()
                self.worker()
            else:
                target = p if event == "stop" else self.relays[p]
                target.send_signal(signal.SIGSTOP)
                stopped.append((p, now + args.lease / 1000 * self.rng.uniform(1.5, 3), target))
        return 0

    def replace_dead(self):
        """Workers that kill themselves are replaced until enough have."""
        replaced, deadline = set(), time.monotonic() + self.args.timeout
        while self.args.die and time.monotonic() < deadline:
            time.sleep(0.05)
            for p in list(self.workers):
                if p.poll() == -signal.SIGKILL and p not in replaced:
                    replaced.add(p)
                    self.worker()
            if not self.live() or (self.deaths >= self.args.deaths and len(replaced) >= self.args.deaths):
                return

    def finish(self):
        deadline = time.monotonic() + self.args.timeout
        for p in self.workers:
            try:
                p.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                return False
        return True

    def close(self):
        for p in self.processes:
            if p.poll() is None:
                p.kill()
                p.wait()
        if not self.args.keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def stalled(self):
        """Worker -> how often it was declared dead without an event of ours: the machine let it wait for a lease."""
        stalled = collections.Counter()
        for n in range(len(self.outputs)):
            ended = open(os.path.join(self.folder, f"err.{n}")).read().count("this session has ended")
            stalled[n] = max(0, ended - sum(worker == n for worker, _, _ in self.cuts))
        return stalled

    def pushed(self):
        """URLs that ever entered a queue."""
        out = subprocess.run([self.args.seen, "crawl", "status", "--json",
                              self.address], capture_output=True, text=True)
        return json.loads(out.stdout)["pushed"] if out.returncode == 0 else -1

    def check(self, left, ended):
        args = self.args
        fetched, depths, given_up = collections.Counter(), {}, []
        for n, path in enumerate(self.outputs):
            if not os.path.exists(path):
                continue
            for line in open(path, errors="replace"):
                if not line.endswith("\n"):
                    continue
                page = json.loads(line)
                if "error" in page:
                    given_up.append(f"{page['url']} by worker {n}: {page['error']}")
                    continue
                fetched[page["url"]] += 1
                depths[page["url"]] = max(page["depth"], depths.get(page["url"], 0))
        expected = expect(args, self.truth)
        lost = [u for u in expected if u not in fetched] if not args.max_pages else []
        foreign = set(fetched) - set(self.truth)
        log = Log(self.log)
        gaps, twice = log.gaps(), log.repeated()
        short = sum(gap < args.delay - 1 for gap in gaps)
        stalled = self.stalled()
        allowed = log.allowed(self.cuts, stalled, args.connections)
        beyond = {worker: (n, allowed[worker]) for worker, n in twice.items() if n > allowed[worker]}
        pushed = self.pushed() - len(expected)
        wrong_depth = [u for u, d in expected.items() if args.depth is not None and u in depths and depths[u] != d]
        print(f"{len(fetched)} of {len(expected)} pages, lost {len(lost)}, given up {len(given_up)}, fetched twice {sum(twice.values())} (at most {sum(allowed.values())}), "
              f"events {args.kills + args.stops + args.cuts - left}, stalled {sum(stalled.values())}, failovers {self.failovers}, "
              f"resharded {self.resharded}, robots.txt {log.robots}, "
              f"pushed again {pushed}, shortest gap {min(gaps, default=0):.1f} ms, {short} of {len(gaps)} too short, wrong depth {len(wrong_depth)}, "
              f"{'ended' if ended else 'DID NOT END'}")
        ok = ended and not lost and not foreign and not wrong_depth
        if not ok and given_up:
            print("given up: " + "; ".join(given_up[:5]))
        if short and not args.ignore_gaps:
            ok = False
        if args.max_pages and len(fetched) != min(args.max_pages, len(expected)):
            ok = False
        if args.bound and beyond:
            print("fetched twice, of a worker, and at most: " + ", ".join(f"{w}: {n} {most}" for w, (n, most) in beyond.items()))
            ok = False
        if args.most_twice is not None and sum(twice.values()) > args.most_twice:
            ok = False
        if args.most_pushed is not None and pushed > args.most_pushed:
            ok = False
        return ok


def expect(args, truth):
    """URL -> depth of all pages within the depth limit."""
    from web import Web
    port = int(truth[0].split(":")[2].split("/")[0])
    web = Web(port, args.pages, args.hosts, args.seed, args.network)
    depth, queue = {0: 0}, [0]
    for page in queue:
        if args.depth is not None and depth[page] >= args.depth:
            continue
        for link in web.links(page):
            if link not in depth:
                depth[link] = depth[page] + 1
                queue.append(link)
    return {web.url(page): d for page, d in depth.items()}


class Log:
    """What the web server received: (nanoseconds, host, path, worker), in order."""

    def __init__(self, path):
        self.requests = sorted((int(at), *rest) for at, *rest in (line.split() for line in open(path)))
        self.robots = sum(page == "/robots.txt" for _, _, page, _ in self.requests)

    def gaps(self):
        """Milliseconds between two requests to one host."""
        last, gaps = {}, []
        for at, host, _, _ in self.requests:
            if host in last:
                gaps.append((at - last[host]) / 1e6)
            last[host] = at
        return gaps

    def repeated(self):
        """Worker -> how many pages were requested once more after its request."""
        last, repeated = {}, collections.Counter()
        for _, host, page, worker in self.requests:
            if page != "/robots.txt":
                if (host, page) in last:
                    repeated[last[host, page]] += 1
                last[host, page] = worker
        return repeated

    def allowed(self, cuts, stalled, connections):
        """Worker -> how many may be: those in flight and those requested within its cuts. When it was stalled is not
        known: the 250 ms with the most requests count."""
        allowed, times = collections.Counter(), collections.defaultdict(list)
        for at, _, _, worker in self.requests:
            times[worker].append(at)
        for worker, start, end in cuts:
            allowed[str(worker)] += connections + sum(start <= at <= end for at in times[str(worker)])
        for worker, times_stalled in stalled.items():
            at = times[str(worker)]
            most = max((bisect.bisect(at, start + 250_000_000) - i for i, start in enumerate(at)), default=0)
            allowed[str(worker)] += times_stalled * (connections + most)
        return allowed


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("seen")
    for name, default in [("pages", 2000), ("hosts", 20), ("workers", 3), ("kills", 0), ("stops", 0), ("delay", 0),
                          ("lease", 600), ("seed", 1), ("pace", 150), ("timeout", 60), ("redis", 0),
                          ("max-pages", 0), ("connections", 16),
                          ("connect", 0), ("close", 0), ("latency", 0), ("cuts", 0)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--depth", type=int)
    parser.add_argument("--most-twice", type=int)
    parser.add_argument("--most-pushed", type=int)
    parser.add_argument("--without", help="of a build with SEEN_FLEET_SWITCHES: journal, numbers, fence or record")
    parser.add_argument("--stall", help="of such a build: pick or push, where the first worker stalls")
    parser.add_argument("--die", help="of such a build: add, push or settle, where workers kill themselves")
    parser.add_argument("--deaths", type=int, default=6)
    parser.add_argument("--options", default="")
    parser.add_argument("--local", default="", help="options of every worker")
    parser.add_argument("--address", help="use this crawl's address; its servers are somebody else's")
    parser.add_argument("--bound", action="store_true", help="fail if more pages of a worker are fetched twice than it "
                        "had in flight or requested in the last 250 ms before each of its events")
    parser.add_argument("--full", action="store_true", help="let the server be at its maxmemory for a while")
    parser.add_argument("--clocks", help="path of libfault_clock.so")
    parser.add_argument("--ignore-gaps", action="store_true", help="the lease is too short for a busy machine")
    parser.add_argument("--keep", action="store_true")
    # Where its processes run, and where its hosts are: fleet_net.py changes both.
    parser.set_defaults(network="127.1", inside=lambda place, command: command)
    return parser


def run(args, meanwhile=None):
    """One crawl; `meanwhile` is called while it runs."""
    fleet = Fleet(args)
    try:
        if args.full:
            fleet.starve()
        else:
            fleet.worker(first=True)
        # A worker that dies before its start URL is stored leaves nothing to continue.
        for _ in range(400):
            if os.path.exists(fleet.log) and "/section" in open(fleet.log).read():
                break
            time.sleep(0.025)
        time.sleep(0.3)
        for _ in range(fleet.args.workers - 1):
            fleet.worker()
        if meanwhile:
            meanwhile(fleet)
        left = fleet.events()
        fleet.replace_dead()
        ended = fleet.finish()
        ok = fleet.check(left, ended)
        if not ok:
            for n in range(len(fleet.outputs)):
                text = open(os.path.join(fleet.folder, f"err.{n}")).read().strip()
                if text:
                    print(f"worker {n}: {text[-300:]}")
    finally:
        fleet.close()
    return 0 if ok else 1


if __name__ == "__main__":
    if sys.argv[1] == "--relay":
        asyncio.run(relay(*map(int, sys.argv[2:])))
    sys.exit(run(options().parse_args()))
