"""A browser without a window, and scripts that ask a page what it shows."""

import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
BEFORE = """<script>
window.problems = [];
addEventListener("error", (event) => problems.push(String(event.message)));
addEventListener("securitypolicyviolation", (event) => problems.push(event.violatedDirective));
for (const kind of ["error", "warn"]) console[kind] = (...told) => problems.push(told.join(" "));
</script>"""
AFTER = """<script>
const all = (selector) => [...document.querySelectorAll(selector)];
const seen = (selector) => all(selector).filter((part) => part.checkVisibility());
const set = (name, value, event) => {
  const control = document.querySelector(`.controls [name="${name}"]`);
  control.value = value;
  control.dispatchEvent(new Event(event, { bubbles: true }));
};
const report = async () => { %s };
report().catch((error) => ({ failed: String(error) })).then((found) => {
  const told = document.createElement("pre");
  told.id = "probe";
  told.textContent = JSON.stringify({ ...found, problems });
  parent.document.body.append(parent.document.importNode(told, true));
});
</script>"""


def run(tmp_path, *options):
    """What the browser writes, with a profile of its own."""
    command = [BROWSER, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", *options]
    done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    return done.stdout.decode("utf-8", "replace")
