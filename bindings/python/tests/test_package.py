"""A source archive and a wheel from it, without the network; one wheel for all Pythons from 3.11 on."""
import glob
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@unittest.skipUnless(importlib.util.find_spec("build") and importlib.util.find_spec("wheel")
                     and "SEEN_LIBRARY" in os.environ, "python3-build is not installed")
class Package(unittest.TestCase):
    def test_wheel_from_sdist(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "source")
            shutil.copytree(HERE, source, ignore=shutil.ignore_patterns("__pycache__"))
            built = subprocess.run([sys.executable, "-m", "build", "--no-isolation", source], capture_output=True, text=True,
                                   cwd=folder)
            self.assertEqual(built.returncode, 0, built.stdout[-2000:] + built.stderr[-2000:])
            wheel, = glob.glob(os.path.join(source, "dist", "seen-*-cp311-abi3-*.whl"))
            zipfile.ZipFile(wheel).extractall(os.path.join(folder, "site"))
            names = os.listdir(os.path.join(folder, "site", "seen"))
            for name in ("__init__.py", "__init__.pyi", "py.typed", "scrapy.py", "_seen.abi3.so"):
                self.assertIn(name, names)
            env = dict(os.environ, PYTHONPATH=os.path.join(folder, "site"),
                       LD_LIBRARY_PATH=os.path.dirname(os.environ["SEEN_LIBRARY"]))
            done = subprocess.run([sys.executable, "-c", "import seen; print(seen.Set(['a']).add('a'), seen.__file__)"],
                                  capture_output=True, text=True, env=env, cwd="/")
            self.assertEqual(done.stdout.split()[:1], ["False"], done.stderr)
            self.assertIn(folder, done.stdout)

    def test_stubs_have_every_name(self):
        import ast
        import seen
        with open(os.path.join(HERE, "seen/__init__.pyi")) as file:
            tree = ast.parse(file.read())
        names = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        for name in seen.__all__:
            self.assertIn(name, names)
        stub = {node.name for node in names["Set"].body if isinstance(node, ast.FunctionDef)}
        real = {name for name in dir(seen.Set) if not name.startswith("_")}
        self.assertEqual(real, {name for name in stub if not name.startswith("_")})


if __name__ == "__main__":
    unittest.main()
