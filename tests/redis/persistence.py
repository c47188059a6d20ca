#!/usr/bin/env python3
"""What a killed Redis server loses of acknowledged keys, by appendfsync: persistence.py SEEN [ROUNDS]

Each round adds batches to a filter, kills the server with SIGKILL, restarts it from its append-only file and looks up
every key of the batches that ended with status 0:
    always          killed at a random moment of a batch: nothing may be missing
    everysec        killed after a batch, fast disk
    everysec, slow  the same while every fdatasync takes 1.5 s (a preloaded function): Redis then keeps the writes in
                    memory (aof_buffer_length) for up to two seconds
Exits 1 if a key is missing with `always`, or with `everysec` although the buffer was empty before the kill.
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

SEEN = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 20
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
SLOW = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
int fdatasync(int fd)
{
    usleep(1500000);
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
"""


class Server:
    def __init__(self, folder, policy, shim):
        self.folder, self.policy = folder, policy
        self.socket = os.path.join(folder, "socket")
        self.where = f"redis+unix://{self.socket}/loss"
        self.start(shim)

    def start(self, shim=None):
        environment = dict(os.environ, LD_PRELOAD=shim) if shim else None
        self.process = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", self.socket, "--dir", self.folder, "--save", "",
                                         "--appendonly", "yes", "--appendfsync", self.policy], env=environment, **QUIET)
        while b"PONG" not in self.cli("ping"):  # it loads the file first
            time.sleep(0.05)

    def cli(self, *words):
        return subprocess.run(["redis-cli", "-s", self.socket, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout

    def buffered(self):
        lines = self.cli("info", "persistence").decode().split()
        return next(int(line.split(":")[1]) for line in lines if line.startswith("aof_buffer_length"))

    def kill(self):
        self.process.kill()
        self.process.wait()
        if os.path.exists(self.socket):
            os.unlink(self.socket)


def write_keys(path, numbers):
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"key {i}\n" for i in numbers)


def one_round(folder, policy, shim):
    """Returns keys acknowledged, keys missing, bytes in the server's buffer before the kill."""
    server, keys, acknowledged, buffered = Server(folder, policy, shim), os.path.join(folder, "keys"), 0, 0
    try:
        subprocess.run([SEEN, "create", "-q", server.where, "-n", "1M"], check=True)
        while server.buffered():  # the empty filter is in the file
            time.sleep(0.1)
        end = time.monotonic() + random.uniform(0.5, 4)
        while True:
            write_keys(keys, range(acknowledged, acknowledged + 5000))
            with subprocess.Popen([SEEN, "add", "-q", server.where, keys], **QUIET) as client:
                if policy == "always" and time.monotonic() > end:
                    time.sleep(random.uniform(0, 0.05))
                    server.kill()
                    client.kill()
                if client.wait() != 0:
                    break
            acknowledged += 5000
            if policy != "always" and time.monotonic() > end:
                buffered = server.buffered()
                break
        server.kill()
        server.start()
        write_keys(keys, range(acknowledged))
        done = subprocess.run([SEEN, "check", "-q", server.where, keys], stdout=subprocess.PIPE, check=False)
        if done.returncode not in (0, 1):
            sys.exit("persistence: the filter cannot be read after the kill")
        return acknowledged, acknowledged - done.stdout.count(b"\n"), buffered
    finally:
        server.kill()


def main():
    bad = 0
    with tempfile.TemporaryDirectory(prefix="seen-persistence.") as top:
        shim = os.path.join(top, "slow.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", shim, "-ldl"], input=SLOW.encode(), check=True)
        for name, policy, preload in (("always", "always", None), ("everysec", "everysec", None), ("everysec, slow", "everysec", shim)):
            rounds = []
            for _ in range(ROUNDS):
                folder = os.path.join(top, "redis")
                os.mkdir(folder)
                rounds.append(one_round(folder, policy, preload))
                shutil.rmtree(folder)
            lost = [r for r in rounds if r[1]]
            bad += sum(policy == "always" or r[2] == 0 for r in lost)
            print(f"{name}: {len(rounds)} kills, {sum(r[0] for r in rounds):,} keys acknowledged, {sum(r[1] for r in rounds):,} missing "
                  f"in {len(lost)} rounds; buffer not empty in {sum(r[2] > 0 for r in rounds)}", flush=True)
            for acknowledged, missing, buffered in lost:
                print(f"    {missing:,} of {acknowledged:,} missing, {buffered:,} bytes in the buffer")
    return 1 if bad else 0


sys.exit(main())
