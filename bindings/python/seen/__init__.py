"""Have I seen this before? A set that stores each key in a few bits.

    import seen
    visited = seen.open("visited.seen")
    if visited.add(url):        # True if the key is new
        fetch(url)

Sets are in memory (`Set`), in a file that processes share, or in Redis (`open`). "New" is certain;
"present" is wrong at the error rate that was chosen when the set was created.
"""
import errno as _errno
import os as _os
from typing import final as _final

from . import _seen

__all__ = ["Set", "open", "plan", "drop", "canonical_url", "Error", "ArgumentError", "FormatError",
           "MismatchError", "FullError", "KindError", "UnsupportedError", "OutOfMemoryError",
           "StoreError", "NotFoundError", "ExistsError", "AccessError", "NetworkError"]
__version__ = _seen.version


# ---- exceptions: each is also the standard one ----

class Error(Exception):
    """Any error of libseen; `status` is its code (seen.h). If a bulk call failed in the middle,
    `partial` has the answers so far: 2 stands for a key that was not decided."""
    status = 0
    partial = None


class ArgumentError(Error, ValueError):
    """A value, or a combination of values, that makes no sense."""


class FormatError(Error, ValueError):
    """The file is damaged, truncated or not a filter."""


class MismatchError(Error, ValueError):
    """Parameters, seed or kind differ."""


class FullError(Error, OverflowError):
    """The set is at its capacity, and when_full is "refuse"."""


class KindError(Error, TypeError):
    """This kind of set cannot do that."""


class UnsupportedError(Error, NotImplementedError):
    """This build of libseen lacks that part."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed."""


class StoreError(Error, OSError):
    """The disk, the network or the server failed."""


class NotFoundError(StoreError, FileNotFoundError):
    """No such file or filter."""
    errno = _errno.ENOENT


class ExistsError(StoreError, FileExistsError):
    """It already exists."""
    errno = _errno.EEXIST


class AccessError(StoreError, PermissionError):
    """Not allowed, opened for reading only, or another process has the file for itself."""
    errno = _errno.EACCES


class NetworkError(StoreError, ConnectionError):
    """The server does not answer."""


_seen.register_exceptions({
    1: OutOfMemoryError, 2: ArgumentError, 3: StoreError, 4: FormatError, 5: ExistsError,
    6: NotFoundError, 7: MismatchError, 8: FullError, 9: KindError, 10: AccessError,
    11: NetworkError, 12: StoreError, 13: UnsupportedError, 14: StoreError, 15: StoreError,
    16: StoreError})


# ---- options ----

_REPLACE, _IF_ABSENT, _READ_ONLY, _ALONE = 1, 2, 4, 8
_CHOICES = {"kind": ("bloom", "counting"), "hash": ("xxh3", "siphash"),
            "when_full": ("refuse", "go on"), "layout": ("shards", "bitmap")}
_SET_OPTIONS = {"capacity", "error_rate", "kind", "window", "window_seconds", "bits", "hashes",
                "renew", "seed", "hash", "when_full"}
_STORE_OPTIONS = {"connect_ms", "command_ms", "retry_ms", "ttl_seconds", "tls_ca", "tls_cert",
                  "tls_key", "layout"}


def _options(given):
    """The options of libseen from keyword arguments."""
    options = {name: value for name, value in given.items() if value is not None}
    for name, choices in _CHOICES.items():
        if name in options:
            if options[name] not in choices:
                raise ValueError(f"{name}: {options[name]!r} is not one of {', '.join(choices)}")
            options[name] = choices.index(options[name])
    window, seconds = options.pop("window", None), options.get("window_seconds")
    if window is not None or seconds is not None:
        options["growth"] = 2
        if window is not None:
            options["generations"] = window
    if "renew" in options:
        options["renew"] = int(bool(options["renew"]))
    if "seed" in options:
        seed = options["seed"]
        if not isinstance(seed, int) or not 0 <= seed < 1 << 128:
            raise ValueError("seed: must be an integer between 0 and 2**128 - 1")
        options["seed"] = (seed & (1 << 64) - 1, seed >> 64)
    return options


def _address(where):
    where = _os.fspath(where)
    if isinstance(where, bytes):
        where = _os.fsdecode(where)
    if "\0" in where:
        raise ValueError("where: embedded null character")
    return where


def _is_file(where):
    return not where.startswith(("redis://", "rediss://", "redis-cluster://", "rediss-cluster://",
                                 "redis+unix://"))


# ---- sets ----

@_final
class Set(_seen.Base):
    """A set that stores each key in a few bits. In memory; use seen.open() for a file or Redis.

    Without a capacity the set grows. `window` keeps the last `capacity` keys in that many
    generations; `window_seconds` keeps keys for that long, from when they were new, or with
    `renew` from when they were last added.
    """
    __slots__ = ()

    def __init__(self, keys=(), /, *, capacity=None, error_rate=0.01, kind="bloom", window=None,
                 window_seconds=None, renew=None, bits=None, hashes=None, seed=None, hash="xxh3",
                 when_full="refuse"):
        if bits is not None and hashes is not None or bits is not None and capacity is not None:
            error_rate = None if error_rate == 0.01 else error_rate
        self._start(None, _options(dict(
            capacity=capacity, error_rate=error_rate, kind=kind, window=window,
            window_seconds=window_seconds, renew=renew, bits=bits, hashes=hashes, seed=seed, hash=hash,
            when_full=when_full)), 0, 0, True)
        if keys != ():
            self.update(keys)

    def update(self, *others):
        """Add all keys of the iterables; a Set is merged."""
        for other in others:
            if isinstance(other, Set):
                self._merge(other)
            else:
                self._update(other)

    def __or__(self, other):
        if not isinstance(other, Set):
            return NotImplemented
        result = self.copy()
        result._merge(other)
        return result

    def __ior__(self, other):
        if not isinstance(other, Set):
            return NotImplemented
        self._merge(other)
        return self

    def like(self, where=None, mode="x"):
        """An empty set with the same parameters and seed, so that the two can be merged."""
        made = Set.__new__(Set)
        flags = {"x": 0, "n": _REPLACE, "c": _IF_ABSENT}.get(mode)
        if flags is None:
            raise ValueError(f"mode: {mode!r} is not one of x, n, c")
        place = None if where is None else _address(where)
        options = {key: value for key, value in (self._origin[1] or {}).items()
                   if key in _STORE_OPTIONS}
        made._start_like(self, place, options, flags, 0)
        return made

    def copy(self):
        """A copy in memory."""
        return Set.from_bytes(self.to_bytes())

    def save(self, where, *, replace=False, **options):
        """Copy the set to a file or to redis://."""
        _check(options, _STORE_OPTIONS)
        self._copy(_address(where), _REPLACE if replace else 0, _options(options))

    @classmethod
    def from_bytes(cls, data):
        """A set in memory from what to_bytes() returned, or from the bytes of a file."""
        made = cls.__new__(cls)
        made._load(data)
        return made

    def info(self):
        """What the set is, how full, and its present error rate. Reads every bit."""
        info = self._info(True)
        info["seed"] = info["seed"][0] | info["seed"][1] << 64
        return info

    def approx_len(self):
        """An estimate of the number of distinct keys. Reads every bit."""
        return round(self._info(True)["keys_estimated"])

    @property
    def capacity(self):
        """Keys within the promised error rate; growing: so far."""
        return self._info(False)["capacity"]

    @property
    def error_rate(self):
        """The promised error rate."""
        return self._info(False)["error_rate"]

    @property
    def nbytes(self):
        """The bytes of the filter."""
        return self._info(False)["bytes"]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def __reduce__(self):
        where, options, flags = self._origin
        if self.closed:
            raise ValueError("the set is closed")
        if where is None:
            return Set.from_bytes, (self.to_bytes(),)
        return _reopen, (where, options, flags)

    def __repr__(self):
        if self.closed:
            return "<seen.Set, closed>"
        info = self._info(False)
        return (f"<seen.Set in {self.where or 'memory'}: {info['kind']}, {info['growth']}, "
                f"{info['capacity']:,} keys at {info['error_rate']:g}, {info['bytes']:,} bytes>")

    def __bool__(self):
        raise TypeError("a Set has no length; use approx_len(), or compare with None")


def _check(options, known):
    unknown = sorted(set(options) - known)
    if unknown:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}")


def _reopen(where, options, flags):
    made = Set.__new__(Set)
    made._start(where, options, flags, flags, False)
    return made


def open(where, mode="c", *, capacity=None, error_rate=None, alone=False, **options):
    """Open a set in a file or at a redis:// address.

    mode: r read only; w must exist; c create if missing; n create, replacing; x create, must not
    exist. An existing set keeps its parameters; with "c", parameters that are given must agree.
    alone: no other process writes to the file, which saves a lock per call.
    """
    _check(options, (_SET_OPTIONS | _STORE_OPTIONS) - {"capacity", "error_rate"})
    if mode not in ("r", "w", "c", "n", "x"):
        raise ValueError(f"mode: {mode!r} is not one of r, w, c, n, x")
    where = _address(where)
    if not where:
        raise ValueError("where: the name is empty; use Set() for a set in memory")
    if _is_file(where):
        where = _os.path.abspath(where)  # found again after chdir, in children and by pickle
    given = dict(options, capacity=capacity, error_rate=error_rate)
    store = {key: value for key, value in _options(given).items() if key in _STORE_OPTIONS}
    shape = any(value is not None for key, value in given.items() if key in _SET_OPTIONS)
    made = Set.__new__(Set)
    share = _ALONE if alone else 0
    if mode == "r":
        made._start(where, store, _READ_ONLY, _READ_ONLY, False)
        return made
    if mode == "w" or mode == "c" and not shape:
        try:
            made._start(where, store, share, share, False)
            return made
        except NotFoundError:
            if mode == "w":
                raise
    flags = {"c": _IF_ABSENT, "n": _REPLACE, "x": 0}[mode] | share
    try:
        made._start(where, _options(given), flags, share, True)
    except MismatchError:
        if shape or mode != "c":
            raise
        made._start(where, store, share, share, False)  # another process was faster
    return made


def plan(*, capacity=None, error_rate=None, bits=None, hashes=None, kind="bloom"):
    """What a filter with these parameters costs, and its predicted error rate."""
    return _seen.plan(_options(dict(capacity=capacity, error_rate=error_rate, bits=bits,
                                    hashes=hashes, kind=kind)))


def drop(where, **options):
    """Remove a filter: the file, or all of its keys in Redis."""
    _check(options, _STORE_OPTIONS)
    _seen.drop(_address(where), _options(options))


def canonical_url(url, base=None, *, sort_query=False, drop_tracking=False, drop_session=False,
                  drop_www=False, drop_slash=False, drop=()):
    """The canonical form of an http or https URL; None if it is not one."""
    flags = (sort_query and 1) | (drop_tracking and 2) | (drop_session and 4) | \
        (drop_www and 8) | (drop_slash and 16)
    return _seen.canonical_url(url, base, int(flags), tuple(drop))
