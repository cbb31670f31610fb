"""A client that reads the console's pages like a browser without scripts."""

from __future__ import annotations

import html
import http.client
import re
import urllib.parse


class Page:
    def __init__(self, status: int, headers: http.client.HTTPMessage, body: bytes) -> None:
        self.status, self.headers, self.text = status, headers, body.decode()

    @property
    def location(self) -> str | None:
        return self.headers.get("Location")

    def field(self, name: str) -> str:
        """The value of a form's hidden field."""
        found = re.search(rf'name="{name}" value="([^"]*)"', self.text)
        assert found, self.text[:2000]
        return html.unescape(found[1])

    @property
    def links(self) -> list[str]:
        return [html.unescape(link) for link in re.findall(r'href="([^"]*)"', self.text)]

    def figure(self, label: str) -> str:
        """The value of a headline figure."""
        found = re.search(rf"<dt>(?:<a [^>]*>)?{re.escape(label)}(?:</a>)?</dt><dd><strong>([^<]*)</strong>", self.text)
        assert found, f"{label} in {self.text[:3000]}"
        return html.unescape(found[1])


class ConsoleReader:
    """`base` is verifier's address. Keeps cookies and does not follow redirects."""

    def __init__(self, base: str, **headers: str) -> None:
        self.base, self.cookies = base, {}
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def request(self, method: str, target: str, fields: dict[str, str] | None = None, **headers: str) -> Page:
        parts = urllib.parse.urlsplit(self.base)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        sent = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        if self.cookies:
            sent.setdefault("Cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items()))
        body = None
        if fields is not None:
            body = urllib.parse.urlencode(fields)
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            connection.request(method, target, body, sent)
            response = connection.getresponse()
            page = Page(response.status, response.headers, response.read())
        finally:
            connection.close()
        for cookie in page.headers.get_all("Set-Cookie") or []:
            name, value = cookie.split(";")[0].split("=", 1)
            if value:
                self.cookies[name] = value
            else:
                self.cookies.pop(name, None)
        return page

    def get(self, path: str = "", **headers: str) -> Page:
        return self.request("GET", "/console" + path, **headers)

    def sign_in(self, token: str, path: str = "", **headers: str) -> Page:
        """Submits the form on this page; returns the answer."""
        sign_in_page = self.get("/sign-in" + (f"?next={urllib.parse.quote('/console' + path)}" if path else ""), **headers)
        assert sign_in_page.status == 200, sign_in_page.text
        fields = {"form": sign_in_page.field("form"), "next": sign_in_page.field("next"), "token": token}
        return self.request("POST", "/console/sign-in", fields, Origin=self.base, **headers)

    def sign_out(self) -> Page:
        return self.request("POST", "/console/sign-out", {"form": self.get().field("form")}, Origin=self.base)
