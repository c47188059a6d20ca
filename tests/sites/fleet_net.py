#!/usr/bin/env python3
"""Shared crawls (fleet.py) whose machines are network namespaces that lose sight of each other: packets are dropped,
no connection is closed. Needs root and ip(8); status 77 if it cannot make namespaces.

    fleet_net.py SEEN redis   workers are cut off from Redis in turn, for more than a lease
    fleet_net.py SEEN web     workers are cut off from the web in turn, but not all of them: others fetch their pages,
                              none is given up
    fleet_net.py SEEN split   a cluster of 3 masters and 3 replicas falls apart: one master, with the replicas of
                              the others and half of the workers, is cut off from the rest, which elects another
    ... and the options of fleet.py; --times N: how often (2)

Each namespace has a line to a hub that forwards packets. This script runs in the hub."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fleet import options, run, wait_for_port  # noqa: E402
from fleet_servers import cluster_port, reached, wait_until  # noqa: E402

WEB = "10.78"


def ip(*command):
    subprocess.run(["ip", *command], check=True, capture_output=True)


class Net:
    """Namespaces around a hub: that of this process."""

    def __init__(self):
        self.number = {}
        ip("link", "set", "lo", "up")
        subprocess.run(["sysctl", "-qw", "net.ipv4.ip_forward=1"], check=True)

    def name(self, place):
        return f"seen-{os.getpid()}-{place}"

    def address(self, place):
        return f"10.77.{self.number[place]}.2"

    def add(self, place):
        n = self.number[place] = len(self.number) + 1
        name, near = self.name(place), f"line{n}"
        ip("netns", "add", name)
        ip("link", "add", near, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("addr", "add", f"10.77.{n}.1/30", "dev", near)
        ip("link", "set", near, "up")
        ip("-n", name, "addr", "add", f"10.77.{n}.2/30", "dev", "eth0")
        for device in ("lo", "eth0"):
            ip("-n", name, "link", "set", device, "up")
        ip("-n", name, "route", "add", "default", "via", f"10.77.{n}.1")

    def inside(self, place, command):
        if place and place not in self.number:
            self.add(place)
            if place == "web":
                ip("-n", self.name(place), "route", "add", "local", f"{WEB}.0.0/16", "dev", "lo")
                ip("route", "add", f"{WEB}.0.0/16", "via", self.address(place))
        return ["ip", "netns", "exec", self.name(place), *command] if place else command

    def cut(self, some, others, what="add"):
        """Drops packets between two sets of networks; what="del": no more."""
        for a in some:
            for b in others:
                ip("rule", what, "from", a, "to", b, "blackhole")
                ip("rule", what, "from", b, "to", a, "blackhole")

    def heal(self, some, others):
        self.cut(some, others, "del")

    def close(self):
        for place in self.number:
            subprocess.run(["ip", "netns", "del", self.name(place)])


class Servers:
    """Redis servers in namespaces."""

    def __init__(self, net):
        self.net, self.process, self.at, self.folder = net, [], [], tempfile.mkdtemp(prefix="seen-servers-")

    def start(self, place, *more):
        port = cluster_port()
        self.process.append(subprocess.Popen(self.net.inside(
            place, ["redis-server", "--port", str(port), "--bind", "0.0.0.0", "--protected-mode", "no", "--save", "",
                    "--appendonly", "no", "--repl-diskless-sync-delay", "0", "--dir", self.folder,
                    "--cluster-config-file", f"nodes-{port}", *more]),
            stdout=subprocess.DEVNULL))
        self.at.append((self.net.address(place), port))
        wait_for_port(port, self.at[-1][0])
        return self.at[-1]

    def cli(self, at, *command):
        return subprocess.run(["redis-cli", "-h", at[0], "-p", str(at[1]), *command], capture_output=True, text=True,
                              timeout=60).stdout

    def close(self):
        for p in self.process:
            p.kill()
            p.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def cut_workers(args, net, from_what):
    """Each worker in turn."""
    def meanwhile(fleet):
        for i in range(args.times):
            time.sleep(1)
            n = i % args.workers
            if fleet.workers[n].poll() is not None:
                return
            some = [net.address(f"worker{n}")]
            seconds = args.lease / 1000 * fleet.rng.uniform(2, 3)
            fleet.cut(fleet.workers[n], 1000 * seconds + 500)
            net.cut(some, from_what)
            time.sleep(seconds)
            net.heal(some, from_what)
    return meanwhile


def one_server(args, net, what):
    servers = Servers(net)
    host, port = servers.start("redis")
    args.address = f"redis://{host}:{port}/web"
    if what == "web":
        args.local = "--connect-timeout 300ms --timeout 2s"
        args.options += " --backoff 50ms --retries 1"
    try:
        return run(args, cut_workers(args, net, [net.address("redis")] if what == "redis" else [f"{WEB}.0.0/16"]))
    finally:
        servers.close()


def split(args, net):
    servers = Servers(net)
    more = ["--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-replica-validity-factor", "0"]
    # Three masters, and then the replica of each on the other side.
    at = [servers.start(place, *more) for place in ("left", "left", "right", "right", "right", "left")]
    name = [f"{host}:{port}" for host, port in at]

    def manage(*command):
        subprocess.run(["redis-cli", "--cluster", *command, "--cluster-yes"], capture_output=True, check=True, timeout=120)

    manage("create", *name[:3])
    wait_until(lambda: all("cluster_state:ok" in servers.cli(a, "cluster", "info") for a in at[:3]))
    for master, replica in zip(range(3), range(3, 6)):
        manage("add-node", name[replica], name[0], "--cluster-slave", "--cluster-master-id",
               servers.cli(at[master], "cluster", "myid").strip())
    wait_until(lambda: all("cluster_state:ok" in servers.cli(a, "cluster", "info") for a in at) and all(
        "master_link_status:up" in servers.cli(a, "info", "replication") for a in at[3:]), "the replicas are connected")
    left = [a for a in at if a[0] == net.address("left")]
    args.address = "redis-cluster://" + ",".join(f"{h}:{p}" for h, p in at) + "/web"

    def masters(those):
        return sum("role:master" in servers.cli(a, "info", "replication") for a in those)

    def whole():
        return masters(at) == 3 and all("cluster_state:ok" in servers.cli(a, "cluster", "info") for a in at) and all(
            "master_link_status:down" not in servers.cli(a, "info", "replication") for a in at)

    def give_back():
        """The master on the right gets its slots back, for the next time. A failover by hand is given up after 5 s."""
        servers.cli(at[2], "cluster", "failover")
        return reached(lambda: masters(left) == 2 and whole(), 6)

    def meanwhile(fleet):
        some = [net.address(p) for p in ("left", *[f"worker{n}" for n in range(0, args.workers, 2)])]
        others = [net.address(p) for p in ("right", *[f"worker{n}" for n in range(1, args.workers, 2)])]
        for _ in range(args.times):
            time.sleep(1)
            for worker in fleet.live():
                fleet.cut(worker, 500)
            net.cut(some, others)
            wait_until(lambda: masters(left) == 3, "the left has three masters")
            fleet.failovers += bool(fleet.live())
            time.sleep(fleet.rng.uniform(0.5, 2) * args.lease / 1000)
            net.heal(some, others)
            wait_until(whole, "the cluster is whole")
            wait_until(give_back, "the right has its master back")
    try:
        return run(args, meanwhile)
    finally:
        servers.close()


def main():
    parser = options()
    parser.add_argument("what", choices=["redis", "web", "split"])
    parser.add_argument("--times", type=int, default=2)
    parser.set_defaults(lease=1500, network=WEB)
    args = parser.parse_args()
    net = Net()
    args.inside = net.inside
    try:
        return split(args, net) if args.what == "split" else one_server(args, net, args.what)
    finally:
        net.close()


if __name__ == "__main__":
    if os.environ.get("SEEN_HUB"):
        sys.exit(main())
    hub = f"seen-{os.getpid()}-hub"
    try:
        ip("netns", "add", hub)
    except (OSError, subprocess.CalledProcessError):
        sys.exit(77)
    try:
        sys.exit(subprocess.run(["ip", "netns", "exec", hub, sys.executable, *sys.argv],
                                env={**os.environ, "SEEN_HUB": hub}).returncode)
    finally:
        ip("netns", "del", hub)
