"""Real spiders against a loopback site, through SIGTERM, SIGKILL and resume."""
import collections
import http.server
import os
import re
import shutil
import signal
import socket
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


def page_of(number):
    """Page i links to 2i+1, 2i+2, i/2 and 1, so that half of the links are duplicates. None links to the start page,
    which Scrapy does not filter."""
    links = [i for i in (2 * number + 1, 2 * number + 2, number // 2, 1) if 0 < i < PAGES]
    return "".join(f'<a href="/{i}">x</a>' for i in links).encode()


class Site:
    """PAGES pages. After `hold` of them requests wait until release() is called, so that a spider can be stopped there."""

    def __init__(self, delay=0.01):
        self.fetched = collections.Counter()
        self.hold, self.released = None, threading.Event()
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
                if site.hold is not None and sum(site.fetched.values()) >= site.hold:
                    site.released.wait(120)
                body = page_of(page)
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

    def hold_after(self, pages):
        self.released.clear()
        self.hold = pages

    def release(self):
        self.hold = None
        self.released.set()

    def stop(self):
        self.release()
        self.server.shutdown()
        self.server.server_close()


class Nginx:
    """The same pages as files, served by nginx; `fetched` counts them by its log."""

    def __init__(self, folder):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        root = os.path.join(folder, "pages")
        os.mkdir(root)
        for i in range(PAGES):
            with open(os.path.join(root, str(i)), "wb") as file:
                file.write(page_of(i))
        self.log = os.path.join(folder, "access.log")
        temporary = " ".join(f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(os.path.join(folder, "nginx.conf"), "w") as file:
            file.write("user root; " if os.getuid() == 0 else "")  # the folder is ours alone
            file.write(f"daemon off; pid {folder}/nginx.pid; events {{}} http {{ {temporary} access_log {self.log}; default_type text/html;"
                       f"server {{ listen 127.0.0.1:{port}; root {root}; }} }}")
        self.process = subprocess.Popen(["nginx", "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log"], stderr=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{port}/"
        for _ in range(1200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except ConnectionError:
                time.sleep(0.05)

    @property
    def fetched(self):
        with open(self.log) as file:
            return collections.Counter(int(number) for number in re.findall(r'"GET /(\d+) HTTP/1.1" 200', file.read()))

    def stop(self):
        self.process.terminate()
        self.process.wait()


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
        code = process.wait(timeout=300)
        with open(process.log) as file:
            return code, file.read()

    def stop_after(self, pages, process, how):
        """Lets a spider fetch so many pages, and then sends it a signal."""
        deadline = time.time() + 120
        while sum(self.site.fetched.values()) < pages and time.time() < deadline and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(how)
        if isinstance(self.site, Site):
            if how == signal.SIGKILL:
                process.wait()
            self.site.release()
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
                self.site.hold_after(30)
                self.stop_after(30, self.start("SCHEDULER=" + scheduler), signal.SIGTERM)
                self.assertLess(len(self.site.fetched), PAGES)
                code, log = self.finish(self.start("SCHEDULER=" + scheduler))
                self.assertIn("Resuming crawl", log)
                self.assertAllOnce(starts=2)
                self.assertFalse(os.path.exists(os.path.join(self.job, "requests.seen.open")))

    def use_nginx(self):
        folder = os.path.join(self.dir.name, "nginx")
        os.mkdir(folder)
        self.site = Nginx(folder)
        self.addCleanup(self.site.stop)

    @unittest.skipUnless(shutil.which("nginx"), "no nginx")
    def test_nginx_sigterm_and_resume(self):
        self.use_nginx()
        slow = "DOWNLOAD_DELAY=0.05"  # the whole site takes six seconds
        self.stop_after(30, self.start(slow), signal.SIGTERM)
        self.assertLess(len(self.site.fetched), PAGES)
        code, log = self.finish(self.start())
        self.assertIn("Resuming crawl", log)
        self.assertAllOnce(starts=2)

    def test_sigkill_is_noticed(self):
        self.site.hold_after(30)
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
        self.site.hold_after(30)
        self.stop_after(30, self.start(), signal.SIGKILL)
        code, log = self.finish(self.start("SEEN_AFTER_CRASH=continue"))
        self.assertIn("never be fetched", log)
        self.assertEqual(code, 0)

    def test_sigkill_with_the_scheduler_loses_nothing(self):
        settings = "SCHEDULER=seen.scrapy.Scheduler", "SEEN_QUEUE_ORDER=fifo"
        for pages in (25, 75):
            self.site.hold_after(pages)
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
        self.site.hold_after(40)
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
        self.share_a_redis()

    @unittest.skipUnless(shutil.which("redis-server") and shutil.which("nginx"), "no redis-server, or no nginx")
    def test_nginx_two_processes_share_a_redis(self):
        self.use_nginx()
        self.share_a_redis()

    def share_a_redis(self):
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
