"""Real spiders against a loopback site, through SIGTERM, SIGKILL and resume."""
import collections
import http.server
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

try:
    import scrapy  # noqa: F401
except ImportError:
    raise unittest.SkipTest("Scrapy is not installed")

import seen
from test_processes import Redis

PAGES = 120


class Site:
    """PAGES pages; page i links to 2i+1, 2i+2, i/2 and 1, so that half of the links are duplicates. None
    links to the start page, which Scrapy does not filter."""

    def __init__(self, delay=0.01):
        self.fetched = collections.Counter()
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                time.sleep(delay)
                try:
                    page = int(self.path[1:])
                except ValueError:
                    page = PAGES
                if page >= PAGES:
                    self.send_response(404)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                links = [i for i in (2 * page + 1, 2 * page + 2, page // 2, 1) if 0 < i < PAGES]
                body = "".join(f'<a href="/{i}">x</a>' for i in links).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                site.fetched[page] += 1
                self.wfile.write(body)

            def handle(self):
                try:
                    super().handle()
                except ConnectionError:  # a client that was killed
                    pass

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Queue(unittest.TestCase):
    def test_order_and_recovery(self):
        from seen.scrapy import Queue
        with tempfile.TemporaryDirectory() as folder:
            for order, expected in (("lifo", [b"c", b"b", b"a"]), ("fifo", [b"a", b"b", b"c"])):
                path = os.path.join(folder, order)
                queue = Queue(path, order)
                for data in (b"a", b"b", b"c"):
                    queue.push(0, data, data)
                queue.push(5, None, b"first")
                row, data = queue.take()
                self.assertEqual(data, b"first")
                queue.done([row])
                self.assertEqual(queue.take()[1], expected[0])
                with self.assertRaisesRegex(RuntimeError, "another process"):
                    Queue(path, order)
                queue.db.close()  # as after a kill: what was taken and not done comes back
                queue = Queue(path, order)
                self.assertEqual(queue.waiting, 3)
                self.assertEqual(sorted(queue.keys()), [b"a", b"b", b"c"])
                self.assertEqual([queue.take()[1] for _ in range(3)], expected)
                self.assertIsNone(queue.take())
                self.assertEqual(queue.waiting, 0)
                queue.close()


class Crawls(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.site = Site()
        self.addCleanup(self.site.stop)
        self.job = os.path.join(self.dir.name, "job")
        self.logs = 0

    def start(self, *settings, job=True):
        self.logs += 1
        log = os.path.join(self.dir.name, f"log{self.logs}")
        options = ["DUPEFILTER_CLASS=seen.scrapy.DupeFilter", "CONCURRENT_REQUESTS_PER_DOMAIN=4",
                   "ROBOTSTXT_OBEY=False", "TELNETCONSOLE_ENABLED=False", "REQUEST_FINGERPRINTER_IMPLEMENTATION=2.7",
                   *settings]
        if job:
            options.append(f"JOBDIR={self.job if job is True else job}")
        command = [sys.executable, "-m", "scrapy", "runspider", os.path.join(os.path.dirname(__file__), "spider.py"),
                   "--logfile", log]
        for option in options:
            command += ["-s", option]
        process = subprocess.Popen(command, env=dict(os.environ, SITE=self.site.url), cwd=self.dir.name,
                                   stderr=subprocess.DEVNULL)
        process.log = log
        return process

    def finish(self, process):
        code = process.wait(timeout=120)
        with open(process.log) as file:
            return code, file.read()

    def stop_after(self, pages, process, how):
        deadline = time.time() + 60
        while sum(self.site.fetched.values()) < pages and time.time() < deadline and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(how)
        return self.finish(process)

    def assertAllOnce(self, starts=1):
        expected = {page: 1 for page in range(PAGES)}
        expected[0] = starts  # start requests are never filtered
        self.assertEqual(dict(self.site.fetched), expected)

    def test_memory(self):
        code, log = self.finish(self.start(job=False))
        self.assertAllOnce()
        stats = dict(re.findall(r"'(seen/\w+)': ([-\d.e]+)", log))
        self.assertEqual(int(stats["seen/keys"]), PAGES - 1, stats)
        self.assertLess(float(stats["seen/expected_lost"]), 1e-6)
        self.assertIn("seen/bytes", stats)
        self.assertIn("'dupefilter/filtered'", log)

    def test_sigterm_and_resume(self):
        for scheduler in ("scrapy.core.scheduler.Scheduler", "seen.scrapy.Scheduler"):
            with self.subTest(scheduler):
                self.site.fetched.clear()
                shutil.rmtree(self.job, ignore_errors=True)
                self.stop_after(30, self.start("SCHEDULER=" + scheduler), signal.SIGTERM)
                self.assertLess(len(self.site.fetched), PAGES)
                code, log = self.finish(self.start("SCHEDULER=" + scheduler))
                self.assertIn("Resuming crawl", log)
                self.assertAllOnce(starts=2)
                self.assertFalse(os.path.exists(os.path.join(self.job, "requests.seen.open")))

    def test_sigkill_is_noticed(self):
        self.stop_after(30, self.start(), signal.SIGKILL)
        before = sum(self.site.fetched.values())
        code, log = self.finish(self.start())
        self.assertRegex(log, "(?s)ERROR.*not stopped cleanly.*SEEN_AFTER_CRASH")
        self.assertNotIn("Spider closed (finished)", log)
        self.assertLessEqual(sum(self.site.fetched.values()), before + 4)  # what was on its way
        code, log = self.finish(self.start("SEEN_AFTER_CRASH=restart"))
        self.assertIn("starting again", log)
        self.assertEqual(sorted(self.site.fetched), list(range(PAGES)))

    def test_sigkill_continue(self):
        self.stop_after(30, self.start(), signal.SIGKILL)
        code, log = self.finish(self.start("SEEN_AFTER_CRASH=continue"))
        self.assertIn("never be fetched", log)
        self.assertEqual(code, 0)

    def test_sigkill_with_the_scheduler_loses_nothing(self):
        settings = "SCHEDULER=seen.scrapy.Scheduler", "SEEN_QUEUE_ORDER=fifo"
        for pages in (25, 75):
            self.stop_after(pages, self.start(*settings), signal.SIGKILL)
        code, log = self.finish(self.start(*settings))
        self.assertEqual(code, 0, log[-2000:])
        self.assertEqual(sorted(self.site.fetched), list(range(PAGES)))
        again = sum(count - 1 for page, count in self.site.fetched.items() if page)
        self.assertLessEqual(again, 2 * 16)  # what was in progress: CONCURRENT_REQUESTS for each kill

    def test_one_process_per_job(self):
        first = self.start()
        while not os.path.exists(os.path.join(self.job, "requests.seen.open")) and first.poll() is None:
            time.sleep(0.01)
        os.kill(first.pid, signal.SIGSTOP)
        code, log = self.finish(self.start())
        os.kill(first.pid, signal.SIGCONT)
        self.assertRegex(log, "(?s)ERROR.*another process")
        self.finish(first)
        self.assertAllOnce()

    def test_import_of_requests_seen(self):
        plain = "DUPEFILTER_CLASS=scrapy.dupefilters.RFPDupeFilter"
        self.stop_after(40, self.start(plain), signal.SIGTERM)
        with open(os.path.join(self.job, "requests.seen"), "a") as file:
            file.write("a damaged line\nabc")
        code, log = self.finish(self.start())
        self.assertRegex(log, r"Imported about \d+ fingerprints .* \(2 damaged lines")
        self.assertAllOnce(starts=2)

    def test_url_keys(self):
        code, log = self.finish(self.start("SEEN_KEY=url"))
        self.assertAllOnce()
        s = seen.open(os.path.join(self.job, "requests.seen.bloom"), "r")
        self.assertIn(self.site.url + "7", s)

    @unittest.skipUnless(shutil.which("redis-server"), "no redis-server")
    def test_two_processes_share_a_redis(self):
        server = Redis(self.dir.name)
        self.addCleanup(server.stop)
        try:
            seen.open(server.where).close()
        except seen.UnsupportedError:
            self.skipTest("built without Redis")
        where = f"SEEN_WHERE=redis+unix://{server.socket}/%(spider)s"
        jobs = [os.path.join(self.dir.name, f"job{i}") for i in range(2)]
        crawls = [self.start(where, "SCHEDULER=seen.scrapy.Scheduler", job=job) for job in jobs]
        for crawl in crawls:
            code, log = self.finish(crawl)
            self.assertEqual(code, 0, log[-2000:])
        self.assertAllOnce(starts=2)
        with seen.open(f"redis+unix://{server.socket}/tree", "r") as s:
            self.assertEqual(s.approx_len(), PAGES - 1)


if __name__ == "__main__":
    unittest.main()
