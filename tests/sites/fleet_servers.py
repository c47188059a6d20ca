#!/usr/bin/env python3
"""Shared crawls (fleet.py) while their Redis servers fail.

    fleet_servers.py SEEN failover           a master with a replica: kill -9 of the master, the replica is promoted
    fleet_servers.py SEEN cluster-failover   a cluster of 3 masters and 3 replicas: kill -9 of masters in turn
    fleet_servers.py SEEN reshard            a cluster of 3 masters: all slots of each move to another
    fleet_servers.py SEEN restart            one server with appendfsync always: kill -9, started again
    ... and the options of fleet.py; --times N: how often (1)"""
import asyncio
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fleet import free_port, options, run, wait_for_port  # noqa: E402


def cluster_port():
    """The cluster bus uses port + 10000."""
    while True:
        port = random.randrange(20000, 30000)
        try:
            for p in (port, port + 10000):
                with socket.socket() as s:
                    s.bind(("127.0.0.1", p))
            return port
        except OSError:
            pass


def cli(port, *command, **more):
    return subprocess.run(["redis-cli", "-p", str(port), *command], capture_output=True, text=True, timeout=120, **more).stdout


class Servers:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="seen-servers-")
        self.process = {}

    def start(self, port, *more):
        folder = os.path.join(self.folder, str(port))
        os.makedirs(folder, exist_ok=True)
        self.process[port] = subprocess.Popen(
            ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
             "--dir", folder, "--repl-diskless-sync-delay", "0", *more], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        wait_for_port(port)

    def kill(self, port):
        self.process[port].kill()
        self.process[port].wait()

    def close(self):
        for p in self.process.values():
            p.kill()
            p.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Proxy:
    """A fixed address in front of the current master."""

    def __init__(self, target):
        self.port, self.target, self.writers = free_port(), target, set()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.serve, daemon=True).start()
        wait_for_port(self.port)

    def serve(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(asyncio.start_server(self.connection, "127.0.0.1", self.port))
        self.loop.run_forever()

    async def connection(self, reader, writer):
        try:
            target = self.target
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", target or 1)
        except OSError:
            writer.close()
            return
        if self.target != target:
            up_writer.close()
            writer.close()
            return
        self.writers |= {writer, up_writer}
        await asyncio.gather(self.pump(reader, up_writer), self.pump(up_reader, writer))

    async def pump(self, reader, writer):
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        writer.close()
        self.writers.discard(writer)

    def move(self, target):
        self.target = target  # None: no server
        self.loop.call_soon_threadsafe(lambda: [w.close() for w in list(self.writers)])


def reached(check, seconds):
    for _ in range(seconds * 20):
        if check():
            return True
        time.sleep(0.05)
    return False


def wait_until(check, what="the servers are ready"):
    if not reached(check, 30):
        sys.exit(f"waited 30 s in vain until {what}")


def replicate(servers, master, replica):
    cli(replica, "replicaof", "127.0.0.1", str(master))
    wait_until(lambda: "master_link_status:up" in cli(replica, "info", "replication"))


def failover(args):
    servers = Servers()
    ports = [free_port(), free_port()]
    for port in ports:
        servers.start(port)
    replicate(servers, *ports)
    proxy = Proxy(ports[0])
    args.address = f"redis://127.0.0.1:{proxy.port}/web"

    def meanwhile(fleet):
        for _ in range(args.times):
            time.sleep(fleet.rng.uniform(0.2, 1))
            fleet.fail_over(lambda: servers.kill(ports[0]))
            proxy.move(None)
            cli(ports[1], "replicaof", "no", "one")
            proxy.move(ports[1])
            servers.start(ports[0])
            ports.reverse()
            replicate(servers, *ports)
    try:
        return run(args, meanwhile)
    finally:
        servers.close()


def restart(args):
    servers, port = Servers(), free_port()
    durable = ["--appendonly", "yes", "--appendfsync", "always"]
    servers.start(port, *durable)
    args.address = f"redis://127.0.0.1:{port}/web"

    def meanwhile(fleet):
        for _ in range(args.times):
            time.sleep(fleet.rng.uniform(0.2, 1))
            fleet.fail_over(lambda: servers.kill(port))
            servers.start(port, *durable)
    try:
        return run(args, meanwhile)
    finally:
        servers.close()


def make_cluster(servers, replicas):
    ports = [cluster_port() for _ in range(3 * (1 + replicas))]
    for port in ports:
        servers.start(port, "--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-replica-validity-factor", "0",
                      "--cluster-allow-replica-migration", "no")  # an empty master stays one
    subprocess.run(["redis-cli", "--cluster", "create", *[f"127.0.0.1:{p}" for p in ports], "--cluster-replicas",
                    str(replicas), "--cluster-yes"], capture_output=True, check=True, timeout=120)
    wait_until(lambda: all("cluster_state:ok" in cli(p, "cluster", "info") for p in ports))
    return ports


def cluster_failover(args):
    servers = Servers()
    ports = make_cluster(servers, 1)
    args.address = "redis-cluster://" + ",".join(f"127.0.0.1:{p}" for p in ports) + "/web"

    def masters():
        return [p for p in ports if servers.process[p].poll() is None and "role:master" in cli(p, "info", "replication")
                and "connected_slaves:0" not in cli(p, "info", "replication")]

    def meanwhile(fleet):
        for i in range(args.times):
            time.sleep(1)
            wait_until(lambda: len(masters()) == 3)
            port = masters()[i % 3]
            fleet.fail_over(lambda: servers.kill(port))
            others = [p for p in ports if p != port]
            wait_until(lambda: "cluster_state:ok" in cli(others[0], "cluster", "info") and sum(
                "role:master" in cli(p, "info", "replication") for p in others) == 3)
            servers.start(port, "--cluster-enabled", "yes", "--cluster-node-timeout", "1000",
                          "--cluster-replica-validity-factor", "0")
    try:
        return run(args, meanwhile)
    finally:
        servers.close()


def reshard(args):
    servers = Servers()
    ports = make_cluster(servers, 0)
    args.address = "redis-cluster://" + ",".join(f"127.0.0.1:{p}" for p in ports) + "/web"

    def move(source, target):
        ids = {p: cli(p, "cluster", "myid").strip() for p in (source, target)}
        out = subprocess.run(["redis-cli", "--cluster", "reshard", f"127.0.0.1:{source}", "--cluster-from", ids[source],
                              "--cluster-to", ids[target], "--cluster-slots", "16384", "--cluster-yes",
                              "--cluster-pipeline", "100"], capture_output=True, text=True, timeout=120)
        return out.returncode == 0

    def meanwhile(fleet):
        for _ in range(args.times):
            # Each slot moves at least once. The nodes learn of each other's changes a moment
            # later.
            for i in range(3):
                wait_until(lambda: move(ports[i], ports[(i + 1) % 3]))
                fleet.resharded += bool(fleet.live())
    try:
        return run(args, meanwhile)
    finally:
        servers.close()


if __name__ == "__main__":
    parser = options()
    parser.add_argument("what", choices=["failover", "cluster-failover", "reshard", "restart"])
    parser.add_argument("--times", type=int, default=1)
    arguments = parser.parse_args()
    sys.exit({"failover": failover, "cluster-failover": cluster_failover, "reshard": reshard,
              "restart": restart}[arguments.what](arguments))
