import Cryptography
import NIOHTTP1
import Testing

@testable import Console
@testable import ServiceRuntime

@Suite struct SessionTests {
  private static func request(_ headers: HTTPHeaders, method: String = "POST") -> IncomingRequest {
    IncomingRequest(method: method, target: "/console/sign-in", headers: headers, peer: ConnectionPeer(), isHTTP2: false)
  }

  @Test func `A session ends at its time, even if its cookie still exists`() throws {
    let session = ConsoleSession(fingerprint: SHA256Digest.hash("a"), endsAt: 1000)
    let read = try #require(ConsoleSession(json: session.json, now: 999))
    #expect(read == session)
    #expect(ConsoleSession(json: session.json, now: 1000) == nil)
    #expect(ConsoleSession(json: Array("{}".utf8), now: 0) == nil && ConsoleSession(json: [], now: 0) == nil)
  }

  @Test func `The stored session contains neither the cookie nor the token`() throws {
    let token = "a token of forty characters and some more"
    let callers = CallerDirectory(
      clients: [.init(name: "a", tokenDigests: [SHA256Digest.hash(token)], allow: ["*"])], serviceToken: nil, open: false)
    let (caller, fingerprint) = try #require(callers.signIn(token: token))
    #expect(caller.name == "a" && fingerprint != SHA256Digest.hash(token))
    let name = String(repeating: "ab", count: 32)
    let kept = SignInStore.key(name) + String(decoding: ConsoleSession(fingerprint: fingerprint, endsAt: 1).json, as: UTF8.self)
    #expect(!kept.contains(name) && !kept.contains(token) && !kept.contains(Hex.encode(SHA256Digest.hash(token))))
    // The stored value identifies the caller as long as the token is valid, and is not a token.
    #expect(callers.caller(ofToken: fingerprint)?.name == "a")
    #expect(callers.signIn(token: Hex.encode(fingerprint)) == nil)
    let without = CallerDirectory(
      clients: [.init(name: "a", tokenDigests: [SHA256Digest.hash("b")], allow: ["*"])], serviceToken: nil, open: false)
    #expect(without.caller(ofToken: fingerprint) == nil)
  }

  @Test func `Nobody can sign in without a token, even if everybody may call`() {
    let open = CallerDirectory(clients: [], serviceToken: nil, open: true)
    #expect(open.signIn(token: "") == nil && open.signIn(token: "x") == nil)
  }

  @Test func `A cookie is hidden from scripts and other sites, and with TLS from unencrypted connections`() {
    let plain = Cookie(name: .session, isSecure: false, base: "/p/console")
    #expect(plain.setting("v", seconds: 60) == "console=v; Path=/p/console; Max-Age=60; HttpOnly; SameSite=Strict")
    let secure = Cookie(name: .session, isSecure: true, base: "/p/console")
    #expect(secure.setting("v", seconds: 60) == "__Host-console=v; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure")
    #expect(secure.clearing.contains("Max-Age=0"))
  }

  @Test(
    arguments: [
      ("console=a", "a"), ("x=1; console=a; console-form=b", "a"), ("console-form=b", nil), ("console=a; console=b", nil), ("", nil),
      ("xconsole=a", nil),
    ] as [(String, String?)])
  func `A cookie is found among others, and is ignored if it occurs twice`(header: String, value: String?) {
    let cookie = Cookie(name: .session, isSecure: false, base: "/console")
    #expect(cookie.value(in: Self.request(["cookie": header])) == value)
  }

  @Test func `A form's token differs each time and matches only its own secret`() {
    let (secret, other) = (RandomBytes.make(32), RandomBytes.make(32))
    let (first, second) = (FormToken.make(secret), FormToken.make(secret))
    #expect(first != second && FormToken.matches(first, secret) && FormToken.matches(second, secret))
    #expect(!FormToken.matches(first, other) && !FormToken.matches("", secret) && !FormToken.matches("zz", secret))
    #expect(!FormToken.matches(String(first.dropLast(2)), secret) && !FormToken.matches("", []))
  }

  @Test(
    arguments: [
      (["host": "a:1"], true), (["host": "a:1", "origin": "http://a:1"], true), (["host": "A:1", "origin": "https://a:1"], true),
      (["host": "a:1", "origin": "http://b:1"], false), (["host": "a:1", "origin": "null"], false),
      (["host": "a:1", "sec-fetch-site": "cross-site"], false), (["host": "a:1", "sec-fetch-site": "same-site"], false),
      (["host": "a:1", "sec-fetch-site": "same-origin", "origin": "http://a:1"], true),
    ] as [(HTTPHeaders, Bool)])
  func `A form from another site is detected`(headers: HTTPHeaders, isOurs: Bool) {
    #expect(ConsolePages.isFromSameOrigin(Self.request(headers)) == isOurs)
  }

  @Test func `Fields of a form are parsed as browsers encode them`() {
    let fields = FormFields("a=1+2&b=%3Cx%3E&c&a=3&d=%zz&e=%FF&%66=g")
    #expect(
      fields["a"] == "1 2" && fields["b"] == "<x>" && fields["c"] == nil && fields["d"] == nil && fields["e"] == nil && fields["f"] == "g")
    #expect(FormFields("x=" + FormFields.encoded("/a?b=c&d ü"))["x"] == "/a?b=c&d ü")
  }
}
