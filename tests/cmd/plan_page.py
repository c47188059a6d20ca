"""The planner page in a browser: nothing is clipped at three widths, light and dark; it works by
keyboard alone; bad input is explained; growing and window sets agree with the command.
plan_page.py SEEN PAGE FOLDER [SCREENSHOTS]"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from browser import Browser  # noqa: E402

seen, page, folder = sys.argv[1], "file://" + os.path.abspath(sys.argv[2]), sys.argv[3]
pictures = sys.argv[4] if len(sys.argv) > 4 else None

CUT = """(() => {
  const bad = [], seen = e => e.offsetParent !== null;
  for (const e of document.querySelectorAll("main, main *")) {
    if (!seen(e) && !(e instanceof SVGElement)) continue;
    const r = e.getBoundingClientRect(), name = e.tagName + "#" + (e.id || e.parentElement.id) + " " + e.textContent.slice(0, 30);
    if (r.width && (r.right > innerWidth + 0.5 || r.left < -0.5)) bad.push("outside the window: " + name);
    if (e instanceof HTMLElement && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0) bad.push("cut: " + name);
    if (e instanceof SVGTextElement) {
      const box = e.ownerSVGElement.getBoundingClientRect();
      if (r.right > box.right + 0.5 || r.left < box.left - 0.5 || r.bottom > box.bottom + 0.5) bad.push("outside the picture: " + name);
    }
  }
  const text = [...document.querySelectorAll("#plot text")].map(t => t.getBoundingClientRect());
  for (let i = 0; i < text.length; i++) for (let j = i + 1; j < text.length; j++) {
    const a = text[i], b = text[j];
    if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
      bad.push("labels overlap in the plot: " + i + " and " + j);
  }
  return bad;
})()"""

CONTRAST = """(() => {
  const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map(x => (x /= 255) <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b; };
  const back = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!c.endsWith(", 0)")) return c; } return "rgb(255,255,255)"; };
  return Math.min(...[...document.querySelectorAll("h1, h2, p, dt, dd, label, td, th, pre, button, small")]
    .filter(e => e.offsetParent && e.textContent.trim()).map(e => { const a = light(getComputedStyle(e).color), b = light(back(e));
      return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); }));
})()"""


def check(good, what):
    if not good:
        sys.exit("plan_page: " + str(what))


def plan(b):
    return json.loads(b.eval("document.getElementById('numbers').textContent"))


def run(*args):
    return subprocess.run([seen, *args], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def looks(b):
    for width in (390, 1000, 1400):
        for dark in (False, True):
            for name, where in (("fixed", "#n=5e9&m=4GiB"), ("small", "#n=12345678&p=1e-15&kind=counting"),
                                ("growing", "#n=100M&p=1e-6&growth=growing"), ("window", "#n=100M&p=1e-6&growth=window&w=30d"),
                                ("invalid", "#n=100M&p=zzz")):
                b.open(page + where, width=width, dark=dark)
                check(b.eval("innerWidth") == width, "the window is not %d wide" % width)
                bad = b.eval(CUT)
                check(not bad, f"{width} px, {name}: {bad}")
                contrast = b.eval(CONTRAST)
                check(contrast >= 4.5, f"{width} px, {name}, {'dark' if dark else 'light'}: contrast {contrast:.2f}")
                if pictures:
                    b.screenshot(f"{pictures}/{width}-{'dark' if dark else 'light'}-{name}.png")


def keyboard(b):
    """From the top of the page with Tab, text, arrows and Enter only."""
    b.open(page)
    focus = "document.activeElement.id || document.activeElement.dataset.copy || document.activeElement.tagName"
    order = []
    for _ in range(16):
        b.press("Tab")
        order.append(b.eval(focus))
        if order[-1] == "n":
            b.eval("document.activeElement.select()")
            b.type("250M")
        if order[-1] == "p-slide":
            before = b.eval("document.getElementById('p').value")
            b.press("ArrowRight")
            check(b.eval("document.getElementById('p').value") != before, "an arrow key does not move the slider")
        if order[-1] == "growth":
            b.press("ArrowDown")
            b.press("ArrowDown")
            check(b.eval("document.getElementById('growth').value") == "window", "arrow keys do not choose the growth")
    for name in ("share", "n", "n-slide", "p", "p-slide", "growth", "w", "g", "shell"):
        check(name in order, f"Tab does not reach {name}: {order}")
    check(plan(b)["capacity"] == 250000000, "typing does not set the keys")
    b.eval("document.getElementById('share').focus()")
    b.press("Enter")
    check(b.eval("document.getElementById('share').textContent") == "Copied", "Enter does not press the button")
    check("n=250M" in b.eval("location.href") and "growth=window" in b.eval("location.href"), "the link does not have the plan")


def invalid(b):
    for where, message, field in (("#n=100M&p=zzz", "is not a rate", "p"), ("#n=abc&p=1%", "is not a count", "n"),
                                  ("#n=100M&p=2", "between 0 and 1", "p"), ("#n=100M&p=1%&k=99", "between 1 and 64", "k"),
                                  ("#n=100M&p=1%&growth=window&g=99", "2 to 32 generations", "g"),
                                  ("#n=100M&p=1%&growth=window&w=soon", "not a duration", "w"),
                                  ("#n=1e12&m=64B", "every cell", None)):
        b.open(page + where)
        check(message in b.eval("document.getElementById('trouble').textContent"),
              f"{where}: {b.eval('document.body.innerText')[:300]}")
        check(field is None or b.eval(f"document.getElementById('{field}').getAttribute('aria-invalid')") == "true", f"{where}: not marked")
        check(b.eval("[...document.querySelectorAll('.result, #facts, #bars')].every(e => !e.offsetParent)"), f"{where}: empty cards are shown")
    b.eval("const e = document.getElementById('m'); e.value = '4GiB'; e.dispatchEvent(new Event('input'))")
    check(b.eval("document.getElementById('facts').offsetParent !== null"), "the result does not come back")


def agrees(b):
    """Memory of a window and of a growing set: as created by the command."""
    for n, p, g in ((1000000, "0.001", 8), (300000, "1e-6", 3)):
        b.open(page + f"#n={n}&p={p}&growth=window&g={g}")
        path = f"{folder}/w{g}.seen"
        run("create", "-q", path, "-n", str(n), "-p", p, "--growth", "window", "--generations", str(g))
        real = json.loads(run("info", "--json", path))
        mine = plan(b)["bytes"]
        check(abs(real["bytes"] / mine - 1) < 0.02, f"window: the page has {mine}, the command {real['bytes']} bytes")
        check(f"--growth window" in b.eval("document.getElementById('shell').textContent"), "no command for a window")
        run(*b.eval("document.getElementById('shell').textContent").replace("keys.seen", f"{folder}/made{g}.seen").split()[1:], "-q")
    for n, p in ((1000000, "0.01"), (400000, "1e-6")):
        b.open(page + f"#n={n}&p={p}&growth=growing")
        path = f"{folder}/g{n}.seen"
        run("create", "-q", path, "-p", p, "--growth", "growing", "-n", "1000")
        keys = f"{folder}/keys"
        with open(keys, "w", encoding="ascii") as file:
            file.writelines(f"key {i}\n" for i in range(n))
        run("add", "-q", path, keys)
        ratio = json.loads(run("info", "--json", path))["bytes"] / plan(b)["bytes"]
        check(0.9 < ratio < b.eval("GROWING"), f"growing, {n} keys at {p}: {ratio:.2f} times a fixed set")
    b.open(page + "#n=100M&p=1e-4")
    check("cells in 1 cache line" in b.eval("document.getElementById('facts').textContent") or
          "cache lines" in b.eval("document.getElementById('facts').textContent"), "no cells per cache line")
    widths = b.eval("[...document.querySelectorAll('.bar span')].map(e => e.getBoundingClientRect().width)")
    data = plan(b)
    want = data["bytes"] / (data["capacity"] * (64 + 16 + 8 / 0.75))
    check(abs(widths[0] / widths[1] - want) < 0.02, f"the bars are {widths}, not {want:.3f} to 1")


with Browser(folder) as browser:
    looks(browser)
    keyboard(browser)
    invalid(browser)
    agrees(browser)
print("three widths, light and dark, keyboard, bad input, windows and growing sets: good")
