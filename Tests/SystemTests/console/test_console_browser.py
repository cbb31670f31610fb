"""The console in a real browser: no messages in the browser's console, use by keyboard, phone width, dark mode, no scripts."""

import os
import pathlib
import shutil
import time
import uuid

import pytest

from SystemTests.support.running_system import start_system, stop_system

from .sample_data import create_sample_data

DRIVER, BROWSER = shutil.which("chromedriver"), shutil.which("chromium")
pytestmark = pytest.mark.skipif(DRIVER is None or BROWSER is None, reason="chromium-driver is not installed (Deploy/test installs it)")
PAGES = {"overview": "", "deliveries": "/deliveries", "deliveries-week": "/deliveries?range=7d", "values": "/values", "queues": "/queues",
         "dead-letters": "/dead-letters", "feed": "/subscriptions", "app-store": "/app-store", "recovery": "/recovery", "keys": "/keys"}
WIDTHS = (390, 820, 1440)


@pytest.fixture(scope="module")
def sample_system(tmp_path_factory):
    running = start_system(tmp_path_factory.mktemp("console"))
    try:
        running.letters = create_sample_data(running)
        yield running
    finally:
        stop_system(running)


class Browser:
    def __init__(self, system):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = BROWSER
        # A root user's browser has no sandbox, and a container has no large /dev/shm. It only calls this system.
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking",
                         "--force-device-scale-factor=1", "--hide-scrollbars"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.driver.set_page_load_timeout(60)
        self.system, self.base = system, system.url("Verifier") + "/console"

    def open(self, path: str = "") -> None:
        self.driver.get(self.base + path)

    def sign_in(self, path: str = "") -> None:
        self.open(path)
        self.driver.find_element("id", "token").send_keys(self.system.token)
        self.driver.find_element("css selector", "form button").click()
        self.wait(lambda: self.driver.find_elements("id", "content"))

    def run(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    def command(self, name: str, **parameters) -> dict:
        return self.driver.execute_cdp_cmd(name, parameters)

    def size(self, width: int, height: int = 900) -> None:
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)

    def dark(self, is_dark: bool) -> None:
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def keys(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains
        ActionChains(self.driver).send_keys(*keys).perform()

    def wait(self, what, seconds: float = 30):
        until = time.monotonic() + seconds
        while not (found := what()):
            assert time.monotonic() < until, self.driver.page_source[:3000]
            time.sleep(0.05)
        return found

    def console_messages(self) -> list[dict]:
        return self.driver.get_log("browser")

    def requested(self) -> set[str]:
        """All requests of the pages."""
        import json
        found = set()
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.add(message["params"]["request"]["url"])
        return found


@pytest.fixture(scope="module")
def browser(sample_system):
    browser = Browser(sample_system)
    try:
        browser.sign_in()
        yield browser
    finally:
        browser.driver.quit()


@pytest.fixture(autouse=True)
def restored_window(browser):
    yield
    browser.size(1280)
    browser.dark(False)
    browser.command("Emulation.setScriptExecutionDisabled", value=False)


def test_no_page_causes_browser_errors_or_requests_to_other_hosts(browser):
    browser.console_messages()
    for path in PAGES.values():
        browser.open(path)
        assert browser.run("return document.querySelector('h1').textContent")
        assert browser.run("return getComputedStyle(document.querySelector('.top')).borderBottomStyle") == "solid", "the style sheet is missing"
    assert browser.console_messages() == []
    hosts = {url.split("/")[2] for url in browser.requested() if url.startswith("http")}
    assert hosts == {browser.base.split("/")[2]}


def test_injected_scripts_do_not_run(browser):
    browser.open("/queues")
    browser.console_messages()
    ran = browser.run("""
        const script = document.createElement("script");
        script.textContent = "window.ran = true";
        document.body.append(script);
        const style = document.createElement("div");
        style.innerHTML = '<img src="x" onerror="window.ran = true"><p style="color: red">x</p>';
        document.body.append(style);
        return window.ran === true || getComputedStyle(style.querySelector("p")).color === "rgb(255, 0, 0)";""")
    assert ran is False
    browser.wait(lambda: [line for line in browser.console_messages() if "Content Security Policy" in line["message"]])


def test_figures_change_without_a_page_load_and_focus_stays(browser):
    browser.open("/queues")
    browser.run("window.marker = 1; document.querySelector('.figure a').focus()")
    before = browser.run("return document.activeElement.href")
    assert before
    queue = "tokens"
    browser.system.call("Queues", "PauseQueue", {"queue": queue}, key=uuid.uuid4().hex)
    try:
        browser.wait(lambda: browser.run("return [...document.querySelectorAll('.badge')].some(badge => badge.textContent === 'paused')"))
        assert browser.run("return window.marker") == 1
        assert browser.run("return document.activeElement.href") == before
        # While paused, nothing changes.
        browser.driver.find_element("id", "pause").click()
        assert browser.run("return document.getElementById('pause').getAttribute('aria-pressed')") == "true"
        now = browser.run("return document.getElementById('now').textContent")
    finally:
        browser.system.call("Queues", "ResumeQueue", {"queue": queue}, key=uuid.uuid4().hex)
    time.sleep(6)
    assert browser.run("return document.getElementById('now').textContent") == now
    browser.driver.find_element("id", "pause").click()
    browser.wait(lambda: not browser.run("return [...document.querySelectorAll('.badge')].some(badge => badge.textContent === 'paused')"))
    assert browser.run("return window.marker") == 1


def test_a_table_that_was_opened_stays_open_after_an_update(browser):
    browser.open("/deliveries")
    browser.run("document.querySelector('#table-all').open = true")
    now = browser.run("return document.getElementById('now').textContent")
    browser.wait(lambda: browser.run("return document.getElementById('now').textContent") != now)
    assert browser.run("return document.querySelector('#table-all').open") is True


def test_every_control_can_be_reached_by_keyboard_with_a_visible_focus(browser):
    from selenium.webdriver.common.keys import Keys
    browser.open("")
    browser.keys(Keys.TAB)
    assert browser.run("return document.activeElement.className") == "skip"
    assert browser.run("return document.activeElement.getBoundingClientRect().left") >= 0
    browser.keys(Keys.ENTER)
    assert browser.run("return location.hash + document.activeElement.id") == "#mainmain"
    browser.open("")
    wanted = browser.run("""return [...document.querySelectorAll("a[href], button:not([hidden]), input:not([type=hidden]), summary, [tabindex='0']")]
        .filter(one => one.checkVisibility()).length""")
    reached = 0
    for _ in range(wanted + 2):
        browser.keys(Keys.TAB)
        focused = browser.run("""const one = document.activeElement;
            return one === document.body ? null : [one.tagName, getComputedStyle(one).outlineStyle, one.matches(":focus-visible")]""")
        if focused is None:
            break
        assert focused[1] != "none" and focused[2], focused
        reached += 1
    assert reached >= wanted
    # The keyboard also opens a page.
    browser.open("")
    browser.run("document.querySelector('nav a[href$=\"/queues\"]').focus()")
    browser.keys(Keys.ENTER)
    browser.wait(lambda: browser.driver.current_url.endswith("/console/queues"))


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_is_wider_than_the_screen(browser, width):
    browser.size(width)
    for name, path in {**PAGES, "dead-letter": f"/dead-letters/gaps/{browser.system.letters[0]}"}.items():
        browser.open(path)
        assert browser.run("return document.documentElement.scrollWidth") <= width, name
        # Controls are large enough for a finger.
        assert browser.run("return [...document.querySelectorAll('nav a')].every(link => link.getBoundingClientRect().height >= 24)"), name


CONTRAST = """
const light = (colour) => {
  const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (one) => {
  for (; one; one = one.parentElement) {
    const colour = getComputedStyle(one).backgroundColor;
    if (!/rgba\\(.*, 0\\)/.test(colour)) return colour;
  }
  return "rgb(255, 255, 255)";
};
return [...document.querySelectorAll("body *")]
  .filter(one => !one.closest("svg") && one.checkVisibility() && [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
  .map(one => {
    const [a, b] = [light(getComputedStyle(one).color), light(ground(one))];
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), one.className + ": " + one.textContent.trim().slice(0, 40)];
  }).filter(([ratio]) => ratio < 4.5);
"""


@pytest.mark.parametrize("is_dark", [False, True])
def test_text_has_enough_contrast_in_light_and_dark_mode(browser, is_dark):
    browser.dark(is_dark)
    for name, path in PAGES.items():
        browser.open(path)
        assert browser.run(CONTRAST) == [], name
        ground = browser.run("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, ground.removeprefix("rgb(").removesuffix(")").split(","))) < 200) is is_dark


def test_without_scripts_everything_is_shown_and_forms_work(browser):
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    for path in PAGES.values():
        browser.open(path)
        assert browser.driver.find_element("css selector", "#content").text
    # There is nothing to pause on this page.
    assert not browser.driver.find_element("id", "pause").is_displayed()
    browser.open("/deliveries")
    browser.driver.find_element("css selector", "#table-all summary").click()
    assert browser.driver.find_element("css selector", "#table-all tbody tr").is_displayed()
    browser.driver.find_element("link text", "24 hours").click()
    browser.wait(lambda: "range=24h" in browser.driver.current_url)
    browser.open("/app-store")
    browser.driver.find_element("name", "transaction").send_keys("12345\n")
    browser.wait(lambda: "no notification of this subscription was received" in browser.driver.page_source)


def test_the_sign_in_page_is_shown_after_sign_out_and_at_the_end_of_a_session(browser):
    browser.open("/keys")
    browser.run("window.marker = 1")
    cookie = browser.driver.get_cookie("console")
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and browser.run("return document.cookie") == ""
    browser.driver.delete_cookie("console")
    browser.wait(lambda: browser.driver.find_elements("id", "token"))
    assert "next=%2Fconsole%2Fkeys" in browser.driver.current_url
    browser.driver.find_element("id", "token").send_keys(browser.system.token + "\n")
    browser.wait(lambda: browser.driver.current_url.endswith("/console/keys") and browser.driver.find_elements("id", "content"))
    browser.driver.find_element("css selector", ".who button").click()
    browser.wait(lambda: browser.driver.find_elements("id", "token"))
    # The previous page is not shown from the cache.
    browser.driver.back()
    browser.wait(lambda: browser.driver.find_elements("id", "token"))
    browser.sign_in()


@pytest.mark.skipif("ATTRIBUTION_SCREENSHOTS" not in os.environ, reason="writes pictures for the documentation when it names a folder")
def test_every_page_can_be_saved_as_a_picture_at_each_width_in_light_and_dark_mode(browser):
    folder = pathlib.Path(os.environ["ATTRIBUTION_SCREENSHOTS"])
    folder.mkdir(parents=True, exist_ok=True)
    pages = {**PAGES, "dead-letter": f"/dead-letters/gaps/{browser.system.letters[0]}"}
    if os.environ.get("ATTRIBUTION_SCREENSHOT_PAGES"):
        pages = {name: pages[name] for name in os.environ["ATTRIBUTION_SCREENSHOT_PAGES"].split(",")}
    for is_dark in (False, True):
        browser.dark(is_dark)
        for width in WIDTHS:
            browser.size(width)
            for name, path in pages.items():
                browser.open(path)
                height = browser.run("return document.documentElement.scrollHeight")
                browser.size(width, max(700, min(height, 2600)))
                browser.driver.save_screenshot(str(folder / f"{name}-{width}-{'dark' if is_dark else 'light'}.png"))
                browser.size(width)
