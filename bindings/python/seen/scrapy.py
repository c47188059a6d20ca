"""Scrapy: a duplicate filter in a few bytes per URL, and a scheduler that survives a kill.

    DUPEFILTER_CLASS = "seen.scrapy.DupeFilter"
    SCHEDULER = "seen.scrapy.Scheduler"      # optional: with JOBDIR, a killed spider resumes

Settings (defaults):
    SEEN_WHERE = None            JOBDIR/requests.seen.bloom; memory without JOBDIR; or a path or
                                 redis://host/NAME, with %(spider)s for the spider's name
    SEEN_ERROR_RATE = 1e-9       chance that a new URL is taken for a duplicate, and lost
    SEEN_CAPACITY = 0            0: the set grows
    SEEN_KEY = "fingerprint"     or "url": the canonical URL (GET without a body only)
    SEEN_AFTER_CRASH = "refuse"  or "continue", "restart"
    SEEN_QUEUE_ORDER = "lifo"    or "fifo"; Scheduler only
"""
import logging
import os
import pickle
import shutil
import sqlite3
import time
from pathlib import Path

from scrapy.core.scheduler import BaseScheduler
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.job import job_dir
from scrapy.utils.misc import load_object
from scrapy.utils.request import referer_str, request_from_dict

import seen

logger = logging.getLogger(__name__)


class CrashedJob(RuntimeError):
    """The job was not stopped cleanly, and Scrapy has lost its pending requests."""


# ---- the duplicate filter ----

class DupeFilter(BaseDupeFilter):
    """Drop-in for RFPDupeFilter with libseen underneath."""

    def __init__(self, crawler):
        settings = crawler.settings
        self.crawler, self.stats = crawler, crawler.stats
        self.fingerprinter = crawler.request_fingerprinter
        self.debug = settings.getbool("DUPEFILTER_DEBUG")
        self.logdupes = True
        self.error_rate = settings.getfloat("SEEN_ERROR_RATE", 1e-9)
        self.capacity = settings.getint("SEEN_CAPACITY", 0) or None
        self.key = self._choice("SEEN_KEY", "fingerprint", "url")
        self.after_crash = self._choice("SEEN_AFTER_CRASH", "refuse", "continue", "restart")
        jobdir = job_dir(settings)
        self.jobdir = Path(jobdir) if jobdir else None
        self.where = self._where(settings.get("SEEN_WHERE"))
        # With a queue that survives a crash nothing is lost, and there is nothing to refuse. (Not
        # issubclass: BaseScheduler's metaclass takes any class with the same methods for one.)
        self.durable = Scheduler in load_object(settings["SCHEDULER"]).__mro__
        self.mark = self.jobdir and self.jobdir / "requests.seen.open"
        self.set = None

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def _choice(self, name, *choices):
        value = self.crawler.settings.get(name, choices[0])
        if value not in choices:
            raise ValueError(f"{name}: {value!r} is not one of {', '.join(choices)}")
        return value

    def _where(self, where):
        if where:
            spider = self.crawler.spider or self.crawler.spidercls
            return where % {"spider": spider.name} if "%(spider)s" in where else where
        return str(self.jobdir / "requests.seen.bloom") if self.jobdir else None

    @property
    def _shared(self):
        return bool(self.where) and not seen._is_file(self.where)

    def open(self):
        if self.where is None:
            self.set = seen.Set(capacity=self.capacity, error_rate=self.error_rate)
            return
        try:
            self._open_set()
            if self.mark:
                self._check_crash()
        except (seen.Error, CrashedJob) as error:
            logger.error("The duplicate filter cannot be used: %s", error)
            if self.set is not None:
                self.set.close()
                self.set = None
            raise
        if self.mark:
            self.mark.write_text(f"process {os.getpid()}, since {time.ctime()}\n")

    def _open_set(self):
        old = self.jobdir / "requests.seen" if self.jobdir else None
        if old and not self._shared and old.exists() and not os.path.exists(self.where):
            self._import(old)
        self.set = seen.open(self.where, capacity=self.capacity, error_rate=self.error_rate,
                             alone=not self._shared)

    def _import(self, old):
        """Takes over what RFPDupeFilter wrote: 40 hexadecimal digits per line."""
        new, bad = self.where + ".new", 0

        def fingerprints():
            nonlocal bad
            with old.open(encoding="ascii", errors="replace") as lines:
                for line in lines:
                    try:
                        if len(line.rstrip()) != 40:
                            raise ValueError
                        yield bytes.fromhex(line.rstrip())
                    except ValueError:  # cut off by a kill
                        bad += 1
        with seen.open(new, "n", capacity=self.capacity, error_rate=self.error_rate) as s:
            s.update(fingerprints())
            count = s.approx_len()
        os.replace(new, self.where)
        logger.info("Imported about %d fingerprints from %s (%d damaged lines skipped)", count, old, bad)

    def _check_crash(self):
        if not self.mark.exists() or self.durable:
            return
        known = self.set.approx_len()
        what = (f"{self.jobdir}: the job was not stopped cleanly ({self.mark.read_text().strip()}). Scrapy "
                f"saves its pending requests only on a clean stop, so they are lost, but about {known:,} "
                "requests are marked as seen")
        if self.after_crash == "restart":
            self._restart(what)
        elif self.after_crash == "continue":
            logger.error("%s: those that were pending will never be fetched "
                         "(SEEN_AFTER_CRASH is continue)", what)
        else:
            raise CrashedJob(
                f"{what}: the job would finish at once, with pages missing. Set SEEN_AFTER_CRASH to "
                "\"restart\" to begin again, or to \"continue\" to crawl only what is still found; "
                "SCHEDULER = \"seen.scrapy.Scheduler\" avoids this")

    def _restart(self, what):
        if self._shared:
            raise CrashedJob(f"{what}: {self.set.where} is shared and not cleared; drop it with 'seen drop', "
                             "or set SEEN_AFTER_CRASH to \"continue\"")
        logger.warning("%s: starting again (SEEN_AFTER_CRASH is restart)", what)
        self.set.close()
        seen.drop(self.where)
        shutil.rmtree(self.jobdir / "requests.queue", ignore_errors=True)
        (self.jobdir / "requests.queue").mkdir()
        (self.jobdir / "requests.seen").unlink(missing_ok=True)
        self._open_set()

    # ---- requests ----

    def key_of(self, request):
        if self.key == "url" and request.method == "GET" and not request.body:
            url = seen.canonical_url(request.url)
            if url:
                return url
        return self.fingerprinter.fingerprint(request)

    def request_seen(self, request):
        return not self.set.add(self.key_of(request))

    def log(self, request, spider):
        if self.debug:
            logger.debug("Filtered duplicate request: %(request)s (referer: %(referer)s)",
                         {"request": request, "referer": referer_str(request)}, extra={"spider": spider})
        elif self.logdupes:
            logger.debug("Filtered duplicate request: %(request)s - no more duplicates will be shown "
                         "(see DUPEFILTER_DEBUG to show all duplicates)", {"request": request},
                         extra={"spider": spider})
            self.logdupes = False
        self.stats.inc_value("dupefilter/filtered", spider=spider)

    def close(self, reason):
        if self.set is None:
            return
        info = self.set.info()
        self.stats.set_value("seen/keys", round(info["keys_estimated"]))
        self.stats.set_value("seen/bytes", info["bytes"])
        self.stats.set_value("seen/error_rate_now", info["error_rate_now"])
        self.stats.set_value("seen/expected_lost", info["keys_estimated"] * info["error_rate_now"])
        self.set.close()
        self.set = None
        if self.mark:
            self.mark.unlink(missing_ok=True)


# ---- the scheduler ----

class Queue:
    """Pending requests in SQLite. A row is deleted when its request is done, not when it is handed
    out, so that a killed process finds all of its work again. Commits go to the page cache: they
    survive a killed process; after a power cut the last seconds may be missing."""

    def __init__(self, path, order="lifo"):
        self.db = sqlite3.connect(path, isolation_level=None, timeout=0.5)
        try:
            self.db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self.db.execute("PRAGMA journal_mode = WAL")
            self.db.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.OperationalError as error:
            raise RuntimeError(f"{path}: {error}; another process uses this JOBDIR") from error
        self.db.execute("CREATE TABLE IF NOT EXISTS pending (id INTEGER PRIMARY KEY AUTOINCREMENT, "
                        "taken INTEGER NOT NULL DEFAULT 0, priority INTEGER NOT NULL, key BLOB, "
                        "request BLOB NOT NULL)")
        self.db.execute("CREATE INDEX IF NOT EXISTS next ON pending (taken, priority, id)")
        self.db.execute("UPDATE pending SET taken = 0 WHERE taken = 1")
        self.waiting = self.db.execute("SELECT count(*) FROM pending").fetchone()[0]
        self._next = ("SELECT id, request FROM pending WHERE taken = 0 ORDER BY priority DESC, id "
                      + ("DESC" if order == "lifo" else "ASC") + " LIMIT 1")

    def push(self, priority, key, data):
        row = self.db.execute("INSERT INTO pending (priority, key, request) VALUES (?, ?, ?)",
                              (priority, key, data)).lastrowid
        self.waiting += 1
        return row

    def take(self):
        """The next (row, data), which stays in the file until it is done; None if there is none."""
        found = self.db.execute(self._next).fetchone()
        if found:
            self.db.execute("UPDATE pending SET taken = 1 WHERE id = ?", (found[0],))
            self.waiting -= 1
        return found

    def done(self, rows):
        self.db.executemany("DELETE FROM pending WHERE id = ?", [(row,) for row in rows])

    def cancel(self, row):
        self.db.execute("DELETE FROM pending WHERE id = ?", (row,))
        self.waiting -= 1

    def keys(self):
        for (key,) in self.db.execute("SELECT key FROM pending WHERE key IS NOT NULL"):
            yield key

    def close(self):
        self.db.close()


class Scheduler(BaseScheduler):
    """Scrapy's scheduler with a queue that survives a kill (JOBDIR must be set).

    A request is written to the queue before its URL is marked as seen, and leaves the queue when
    its callback is done and what it yielded is in the queue. After a kill, requests in progress are
    fetched again: some twice, none lost.
    """

    def __init__(self, crawler):
        settings = crawler.settings
        self.crawler, self.stats = crawler, crawler.stats
        if not job_dir(settings):
            raise ValueError("seen.scrapy.Scheduler keeps its queue in JOBDIR: set it")
        self.path = Path(job_dir(settings)) / "requests.seen.queue"
        order = settings.get("SEEN_QUEUE_ORDER", "lifo")
        if order not in ("lifo", "fifo"):
            raise ValueError(f"SEEN_QUEUE_ORDER: {order!r} is not lifo or fifo")
        self.order = order
        dupefilter = load_object(settings["DUPEFILTER_CLASS"])
        make = getattr(dupefilter, "from_crawler", None)
        self.df = make(crawler) if make else dupefilter.from_settings(settings)
        self.queue = None
        self.memory = []  # requests that cannot be serialized
        self.out = {}     # handed to the engine: row -> request

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def open(self, spider):
        self.spider = spider
        opened = self.df.open()  # first: it refuses a second process
        self.queue = Queue(str(self.path), self.order)
        if isinstance(self.df, DupeFilter):
            # A kill between writing a request and marking it: mark it now.
            self.df.set.update(self.queue.keys())
        if self.queue.waiting:
            logger.info("Resuming crawl (%d requests scheduled)", self.queue.waiting)
        return opened

    def close(self, reason):
        self._sweep()
        if self.queue:
            self.queue.close()
        return self.df.close(reason)

    def has_pending_requests(self):
        return len(self) > 0

    def __len__(self):
        return (self.queue.waiting if self.queue else 0) + len(self.memory)

    def _inprogress(self):
        """The requests between download and the end of their callback."""
        engine = self.crawler.engine
        slot = getattr(engine, "slot", None) or getattr(engine, "_slot", None)
        return slot.inprogress if slot is not None else ()

    def _sweep(self):
        """Deletes what is done. A request is in the engine's set until its callback and the
        pipelines have finished."""
        if self.out:
            busy = self._inprogress()
            done = [row for row, request in self.out.items() if request not in busy]
            for row in done:
                del self.out[row]
            if done:
                self.queue.done(done)

    def _serialize(self, request):
        try:
            return pickle.dumps(request.to_dict(spider=self.spider), protocol=4)
        except (ValueError, pickle.PicklingError, AttributeError, TypeError) as error:
            if not self.stats.get_value("scheduler/unserializable"):
                logger.warning("Unable to serialize request: %s - reason: %s - it is lost if the "
                               "process is killed; no more of these will be logged", request, error)
            self.stats.inc_value("scheduler/unserializable", spider=self.spider)
            return None

    def enqueue_request(self, request):
        key = None
        ours = isinstance(self.df, DupeFilter)
        if not request.dont_filter:
            if not ours:
                if self.df.request_seen(request):
                    self.df.log(request, self.spider)
                    return False
            else:
                key = self.df.key_of(request)
                if key in self.df.set:
                    self.df.log(request, self.spider)
                    return False
        data = self._serialize(request)
        if data is None:
            if key is not None:
                self.df.set.add(key)
            self.memory.append(request)
            self.stats.inc_value("scheduler/enqueued/memory", spider=self.spider)
        else:
            row = self.queue.push(request.priority, key, data)
            if key is not None and not self.df.set.add(key):  # another process was faster
                self.queue.cancel(row)
                self.df.log(request, self.spider)
                return False
            self.stats.inc_value("scheduler/enqueued/disk", spider=self.spider)
        self.stats.inc_value("scheduler/enqueued", spider=self.spider)
        return True

    def next_request(self):
        self._sweep()
        if self.memory:
            self.stats.inc_value("scheduler/dequeued/memory", spider=self.spider)
            self.stats.inc_value("scheduler/dequeued", spider=self.spider)
            return self.memory.pop()
        found = self.queue.take()
        if not found:
            return None
        row, data = found
        request = request_from_dict(pickle.loads(data), spider=self.spider)
        self.out[row] = request
        self.stats.inc_value("scheduler/dequeued/disk", spider=self.spider)
        self.stats.inc_value("scheduler/dequeued", spider=self.spider)
        return request
