"""Several processes on one set: exactly one True for each key, however the processes started."""
import multiprocessing
import os
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

import seen

KEYS = [f"https://example.org/{i}" for i in range(6000)]


def add_all(s, step):
    if step == 1:
        return sum(s.add(key) for key in KEYS)
    return sum(sum(s.add_many(KEYS[at:at + step])) for at in range(0, len(KEYS), step))


def open_and_add(where, start, step, wins):
    s = seen.open(where, "w")
    start.wait()
    wins.put(add_all(s, step))


def add_inherited(s, start, step, wins):
    start.wait()
    wins.put(add_all(s, step))


class Redis:
    """A server on a socket of its own."""

    def __init__(self, folder):
        self.socket = os.path.join(folder, "redis.sock")
        self.server = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "", "--dir", folder],
            stdout=subprocess.DEVNULL)
        for _ in range(1200):
            if os.path.exists(self.socket):
                break
            time.sleep(0.05)
        self.where = f"redis+unix://{self.socket}/visited"

    def stop(self):
        self.server.terminate()
        self.server.wait()


class Winners(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def run_all(self, method, where, inherit):
        context = multiprocessing.get_context(method)
        start, wins = context.Event(), context.Queue()
        s = seen.open(where, "n", error_rate=1e-9)
        target, what = (add_inherited, s) if inherit else (open_and_add, where)
        workers = [context.Process(target=target, args=(what, start, step, wins))
                   for step in (1, 1, 16, 1000)]
        for worker in workers:
            worker.start()
        time.sleep(0.2)
        start.set()
        total = sum(wins.get(timeout=600) for _ in workers)
        for worker in workers:
            worker.join()
            self.assertEqual(worker.exitcode, 0)
        self.assertEqual(total, len(KEYS))
        self.assertEqual(sum(s.check_many(KEYS)), len(KEYS))
        self.assertEqual(add_all(s, 100), 0)

    def test_file(self):
        for method in ("spawn", "fork", "forkserver"):
            for inherit in (False, True):  # by pickle, except with fork
                with self.subTest(method=method, inherit=inherit):
                    self.run_all(method, os.path.join(self.dir.name, f"{method}{inherit}"), inherit)

    @unittest.skipUnless(shutil.which("redis-server"), "no redis-server")
    def test_redis(self):
        server = Redis(self.dir.name)
        self.addCleanup(server.stop)
        try:
            for method in ("spawn", "fork"):
                with self.subTest(method=method):
                    self.run_all(method, server.where, True)
            with seen.open(server.where, "r") as there:
                copy = there.copy()
                self.assertEqual(sum(copy.check_many(KEYS)), len(KEYS))
                self.assertEqual(there.where, server.where)
        except seen.UnsupportedError:
            self.skipTest("built without Redis")

    def test_parent_and_child_race(self):
        """The critical case: the set is open in the parent, and both add."""
        where = os.path.join(self.dir.name, "race")
        s = seen.open(where, error_rate=1e-9)
        read, write = os.pipe()
        if (child := os.fork()) == 0:
            os.write(write, b"%d" % add_all(s, 1))
            os._exit(0)
        mine = add_all(s, 1)
        os.waitpid(child, 0)
        self.assertEqual(mine + int(os.read(read, 100)), len(KEYS))
        os.close(read)
        os.close(write)

    def test_fork_of_memory_is_a_copy(self):
        s = seen.Set(["a"])
        stop = False

        def add():
            while not stop:
                s.update(KEYS)
        thread = threading.Thread(target=add)
        thread.start()
        for _ in range(20):
            if (child := os.fork()) == 0:
                ok = "a" in s and s.add("only in the child") and sum(s.add_many(["b", "c"])) == 2
                os._exit(0 if ok else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
        stop = True
        thread.join()
        self.assertNotIn("only in the child", s)

    def test_alone_is_not_shared_with_a_child(self):
        s = seen.open(os.path.join(self.dir.name, "alone"), alone=True)
        s.add("a")
        if (child := os.fork()) == 0:
            try:
                s.add("b")
            except PermissionError:
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(s.add("b"))

    def test_child_that_only_exits(self):
        """Closing what a child inherited leaves the parent's set alone."""
        s = seen.open(os.path.join(self.dir.name, "exits"))
        if (child := os.fork()) == 0:
            s.close()
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(s.add("a"))
        self.assertFalse(s.closed)


if __name__ == "__main__":
    unittest.main()
