"""The set, the keys, the errors, the bulk calls."""
import copy
import gc
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest

import seen


class Scratch(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def path(self, name="set.seen"):
        return os.path.join(self.dir.name, name)


class Keys(unittest.TestCase):
    def test_str_and_bytes_are_the_same_key(self):
        s = seen.Set(capacity=100)
        self.assertIs(s.add("é"), True)
        self.assertIs(s.add("é".encode()), False)
        self.assertIn(bytearray("é".encode()), s)
        self.assertIn(memoryview(b"xx\xc3\xa9xx")[2:4], s)

    def test_empty_key(self):
        s = seen.Set()
        self.assertNotIn("", s)
        self.assertTrue(s.add(b""))
        self.assertIn("", s)

    def test_other_types_are_refused(self):
        s = seen.Set()
        for key in (1, 1.5, None, ("a",), ["a"], object()):
            for call in (s.add, s.__contains__, lambda k: s.add_many([k])):
                with self.assertRaisesRegex(TypeError, "encode"):
                    call(key)

    def test_lone_surrogate(self):
        s = seen.Set()
        with self.assertRaises(UnicodeEncodeError):
            s.add("\ud800")
        with self.assertRaises(UnicodeEncodeError):
            s.add_many(["a", "\ud800"])

    def test_strided_memory_is_refused(self):
        with self.assertRaises(BufferError):
            seen.Set().add(memoryview(b"abcd")[::2])

    def test_str_subclass(self):
        class Url(str):
            pass
        s = seen.Set([Url("a")])
        self.assertIn("a", s)


class Sets(Scratch):
    def test_no_false_negatives_and_the_rate(self):
        s = seen.Set((f"key {i}" for i in range(20000)), capacity=20000, error_rate=0.01)
        self.assertTrue(all(f"key {i}" in s for i in range(20000)))
        wrong = sum(s.check_many([f"other {i}" for i in range(100000)]))
        self.assertLess(wrong, 1050 + 4 * 32)
        self.assertGreater(wrong, 500)

    def test_grows_by_default(self):
        s = seen.Set(error_rate=1e-6)
        self.assertEqual(s.info()["growth"], "growing")
        self.assertEqual(sum(s.add_many([str(i) for i in range(50000)])), 50000)
        self.assertAlmostEqual(s.approx_len(), 50000, delta=1500)
        self.assertGreaterEqual(s.capacity, 50000)

    def test_full(self):
        s = seen.Set(capacity=100, error_rate=1e-3)
        with self.assertRaises(OverflowError) as caught:
            s.add_many(str(i) for i in range(5000))
        error = caught.exception
        self.assertIsInstance(error, seen.FullError)
        self.assertEqual(error.status, 8)
        self.assertEqual(error.partial.count(1), len(error.partial.split(b"\x02")[0].replace(b"\0", b"")))
        self.assertGreaterEqual(error.partial.count(1), 99)
        s = seen.Set(capacity=100, when_full="go on")
        s.update(str(i) for i in range(1000))

    def test_new_keeps_what_it_decided_when_full(self):
        s = seen.Set(capacity=50, error_rate=1e-6)
        keys = [str(i) for i in range(500)]
        with self.assertRaises(seen.FullError) as caught:
            s.new(keys)
        self.assertEqual(caught.exception.partial, keys[:len(caught.exception.partial)])
        self.assertGreaterEqual(len(caught.exception.partial), 50)

    def test_counting(self):
        s = seen.Set(["a"], capacity=100, kind="counting")
        self.assertIs(s.discard("a"), True)
        self.assertIs(s.discard("a"), False)
        with self.assertRaises(KeyError):
            s.remove("a")
        with self.assertRaises(TypeError) as caught:
            seen.Set().discard("a")
        self.assertIsInstance(caught.exception, seen.KindError)

    def test_bulk_is_like_one_by_one(self):
        keys = [f"k{i % 5000}" for i in range(12345)]
        for form in (list, tuple, iter, lambda k: (x for x in k)):
            one, many, new = (seen.Set(capacity=10000, seed=7) for _ in range(3))
            expected = bytes(one.add(k) for k in keys)
            self.assertEqual(many.add_many(form(keys)), expected)
            self.assertEqual(new.new(form(keys)), [k for k, n in zip(keys, expected) if n])
            self.assertEqual(one.to_bytes(), many.to_bytes())
            self.assertEqual(many.check_many(form(keys)), b"\1" * len(keys))
            updated = seen.Set(capacity=10000, seed=7)
            updated.update(form(keys), ["one more"])
            self.assertIn("one more", updated)
        self.assertEqual(one.add_many([]), b"")

    def test_one_string_is_not_several_keys(self):
        for call in (seen.Set().update, seen.Set().add_many, seen.Set().new, seen.Set):
            with self.assertRaisesRegex(TypeError, "list"):
                call("abc")

    def test_list_that_shrinks(self):
        s = seen.Set()
        keys = [f"k{i}" for i in range(20000)]

        class Shrinks:
            def __iter__(self):
                for i, key in enumerate(keys):
                    if i == 5000:
                        del keys[6000:]
                    yield key
        self.assertEqual(len(s.add_many(Shrinks())), 6000)

        def generator():
            yield "x"
            raise RuntimeError("stop")
        with self.assertRaisesRegex(RuntimeError, "stop"):
            s.update(generator())

    def test_merge(self):
        a = seen.Set(["a"], capacity=1000)
        b = a.like()
        self.assertNotIn("a", b)
        b.add("b")
        both = a | b
        self.assertTrue("a" in both and "b" in both and "b" not in a)
        a |= b
        self.assertIn("b", a)
        with self.assertRaises(seen.MismatchError):
            a |= seen.Set(capacity=1000)
        with self.assertRaises(TypeError):
            a | {"x"}
        c = a.like()
        c.update(a, ["z"])
        self.assertTrue("a" in c and "z" in c)

    def test_bytes_and_pickle_of_memory(self):
        for options in ({"capacity": 500}, {}, {"capacity": 500, "kind": "counting"},
                        {"capacity": 100, "window": 4}):
            s = seen.Set([str(i) for i in range(90)], **options)
            for back in (pickle.loads(pickle.dumps(s)), s.copy(), copy.copy(s), copy.deepcopy(s),
                         seen.Set.from_bytes(bytearray(s.to_bytes()))):
                self.assertEqual(back.to_bytes(), s.to_bytes())
                self.assertTrue(all(str(i) in back for i in range(90)))
        for bad in (b"", b"x" * 20000, s.to_bytes()[:-1]):
            with self.assertRaises(seen.FormatError):
                seen.Set.from_bytes(bad)

    def test_window(self):
        s = seen.Set(capacity=100, window=4)
        s.add("a")
        for _ in range(4):
            s.rotate()
        self.assertNotIn("a", s)
        with self.assertRaises(seen.KindError):
            seen.Set().rotate()

    def test_renew(self):
        for renew in (False, True):
            s = seen.Set(capacity=100, window=4, renew=renew)
            for _ in range(4):
                s.add("a")
                s.rotate()
            self.assertIs("a" in s, renew)

    def test_seed_and_siphash(self):
        a, b = (seen.Set(["x"], capacity=10, seed=1 << 100 | 5, hash="siphash") for _ in "ab")
        self.assertEqual(a.to_bytes(), b.to_bytes())
        self.assertEqual(a.info()["seed"], 1 << 100 | 5)
        self.assertNotEqual(seen.Set(capacity=10).info()["seed"], seen.Set(capacity=10).info()["seed"])

    def test_bad_options(self):
        for bad in ({"capacity": -1}, {"capacity": 1 << 70}, {"error_rate": 2.0}, {"kind": "x"},
                    {"seed": -1}, {"seed": "a"}, {"hashes": 1 << 40}, {"when_full": "grow"},
                    {"hashes": 3}):
            with self.assertRaises(ValueError, msg=bad):
                seen.Set(**bad)
        with self.assertRaises(TypeError):
            seen.Set(capacity="many")

    def test_no_truth_value(self):
        with self.assertRaisesRegex(TypeError, "approx_len"):
            bool(seen.Set())

    def test_subinterpreter_is_refused(self):
        code = ("import _xxsubinterpreters as i, sys\n"
                "sub = i.create()\n"
                "try: i.run_string(sub, 'import seen')\n"
                "except i.RunFailedError as e: print(e)\n")
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        if "No module named" in out.stderr:
            self.skipTest("no module for sub-interpreters")
        self.assertIn("sub-interpreters", out.stdout, out.stderr)
        self.assertEqual(out.returncode, 0)


class Files(Scratch):
    def test_modes(self):
        path = self.path()
        with self.assertRaises(FileNotFoundError) as caught:
            seen.open(path, "r")
        self.assertEqual(caught.exception.errno, 2)
        with self.assertRaises(seen.NotFoundError):
            seen.open(path, "w")
        with seen.open(path, capacity=1000) as s:
            self.assertEqual(s.where, path)
            s.add("a")
        self.assertTrue(s.closed)
        s.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            s.add("a")
        with self.assertRaises(FileExistsError):
            seen.open(path, "x")
        with seen.open(path) as s:  # what is there is opened as it is
            self.assertIn("a", s)
            self.assertEqual(s.capacity, 1000)
        with self.assertRaises(seen.MismatchError):
            seen.open(path, capacity=2000)
        with seen.open(path, "r") as s:
            self.assertIn("a", s)
            with self.assertRaises(PermissionError):
                s.add("b")
        with seen.open(path, "n", capacity=10) as s:
            self.assertNotIn("a", s)
        seen.drop(path)
        self.assertFalse(os.path.exists(path))
        for bad in ("", "a\0b"):
            with self.assertRaises(ValueError):
                seen.open(bad)
        with self.assertRaises(ValueError):
            seen.open(path, "rw")
        with self.assertRaises(TypeError):
            seen.open(path, capacty=1)

    def test_path_like_and_other_folder(self):
        import pathlib
        path = pathlib.Path(self.path())
        s = seen.open(path)
        s.add("a")
        old = os.getcwd()
        os.chdir(self.dir.name)
        self.addCleanup(os.chdir, old)
        relative = seen.open("set.seen")
        self.assertIn("a", relative)
        os.chdir("/")
        self.assertIn("a", pickle.loads(pickle.dumps(relative)))

    def test_pickle_reopens(self):
        s = seen.open(self.path(), capacity=100)
        other = pickle.loads(pickle.dumps(s))
        other.add("x")
        self.assertIn("x", s)

    def test_alone(self):
        s = seen.open(self.path(), alone=True)
        with self.assertRaises(PermissionError):
            seen.open(self.path(), "w")
        s.close()
        seen.open(self.path(), "w").close()

    def test_save_is_the_file(self):
        s = seen.Set(["a"], capacity=100)
        s.save(self.path())
        with open(self.path(), "rb") as file:
            self.assertEqual(file.read(), s.to_bytes())
        with self.assertRaises(FileExistsError):
            s.save(self.path())
        s.save(self.path(), replace=True)

    def test_damage_is_refused(self):
        with open(self.path(), "wb") as file:
            file.write(b"not a filter" * 5000)
        with self.assertRaises(ValueError) as caught:
            seen.open(self.path())
        self.assertIsInstance(caught.exception, seen.FormatError)

    def test_threads_have_one_winner(self):
        for s in (seen.Set(error_rate=1e-9), seen.open(self.path(), error_rate=1e-9)):
            keys = [f"k{i}" for i in range(20000)]
            wins = []

            def work(step):
                got = 0
                for at in range(0, len(keys), step):
                    got += sum(s.add_many(keys[at:at + step])) if step > 1 else s.add(keys[at])
                wins.append(got)
            threads = [threading.Thread(target=work, args=(step,)) for step in (1, 7, 500, 20000) * 2]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(sum(wins), len(keys))

    def test_close_while_threads_add(self):
        for _ in range(20):
            s = seen.Set(capacity=10 ** 6)
            keys = [f"k{i}" for i in range(50000)]
            ended = []

            def work():
                try:
                    while True:
                        s.update(keys)
                except ValueError as error:
                    ended.append(str(error))
            threads = [threading.Thread(target=work) for _ in range(3)]
            for thread in threads:
                thread.start()
            s.close()
            for thread in threads:
                thread.join()
            self.assertEqual(ended, ["the set is closed"] * 3)


class Memory(unittest.TestCase):
    def test_nothing_leaks(self):
        """References and memory stay flat over many calls of every kind, failing ones included."""
        def rss():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        s = seen.Set(capacity=1000, when_full="go on")
        key, keys = "key" * 10, [f"k{i}" for i in range(1000)]

        def once():
            for _ in range(2000):
                s.add(key)
                key in s
            s.update(keys)
            s.add_many(iter(keys))
            s.new(keys)
            s.check_many(tuple(keys))
            for bad in (lambda: s.add(1), lambda: s.add_many(["a", 1]), lambda: s.discard("a"),
                        lambda: seen.open("/no/such/file", "r"), lambda: seen.Set(capacity=-1)):
                try:
                    bad()
                except Exception:
                    pass
            copied = seen.Set.from_bytes(s.to_bytes())
            copied |= s
            copied.info()
            copied.close()
        once()
        gc.collect()
        references, before = sys.getrefcount(key), None
        for i in range(60):
            once()
            if i == 20:
                gc.collect()
                before = rss()
        gc.collect()
        self.assertEqual(sys.getrefcount(key), references)
        if "ASAN_OPTIONS" not in os.environ:  # which keeps freed memory for a while
            self.assertLess(rss() - before, 2 << 20)


class Functions(unittest.TestCase):
    def test_plan(self):
        plan = seen.plan(capacity=10 ** 6, error_rate=0.01)
        self.assertLessEqual(plan["predicted_rate"], 0.01)
        self.assertEqual(plan["bytes"] * 8, plan["bits"])
        with self.assertRaises(ValueError):
            seen.plan(capacity=10)

    def test_canonical_url(self):
        self.assertEqual(seen.canonical_url("HTTP://Example.ORG:80/./a%7eb#x"), "http://example.org/a~b")
        self.assertEqual(seen.canonical_url("../x", "http://a/b/c/d"), "http://a/b/x")
        self.assertIsNone(seen.canonical_url("mailto:a@b"))
        self.assertIsNone(seen.canonical_url("http://[x/"))
        self.assertEqual(seen.canonical_url("http://www.a.b/x/?utm_source=1&q=2&z=1", drop_tracking=True,
                                            drop_www=True, drop_slash=True, drop=["z"]), "http://a.b/x?q=2")
        self.assertEqual(seen.canonical_url("http://a/" + "x" * 9000), "http://a/" + "x" * 9000)


if __name__ == "__main__":
    unittest.main()
