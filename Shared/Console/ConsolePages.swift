import AttributionProtocol
import AttributionQueue
import Cryptography
import Logging
public import RedisClient
public import ServiceRuntime

/// The console: read-only pages about the services, which verifier serves on its internal port beside the RPCs
/// (`Documentation/console.md`).
///
/// A user signs in with the token of a caller, which begins a session (``SignInStore``), or is identified like a caller of RPCs by a client
/// certificate or an `Authorization` header. Each part of a page shows the response of a method of the contract, to users whose caller may
/// call that method.
///
/// `RPCServer` calls ``admission(_:_:)`` for every request. For a page, ``ConsoleReader`` calls the methods with the permissions of the
/// user, a type in `Pages` makes the page's model from their responses, and ``Templates`` renders the model with the template of the same
/// name.
public final class ConsolePages: InternalPages {
  /// The greatest size of a form, bytes. The largest fields are a bearer token and a path of at most 512 bytes.
  private static let maxFormBytes = 8192

  let base: String
  private let settings: ConsoleSettings
  private let sessions: SignInStore
  private let services: ConsoleServices
  private let cache = ResponseCache()
  private let templates: Templates
  private let assets: [String: Asset]
  private let isTLS: Bool
  private let version: String
  private let metrics: MetricsRegistry
  private let now: @Sendable () -> Int64

  private static let signIns = "attribution_console_sign_ins_total"

  /// - Parameters:
  ///   - isTLS: true if the internal listener uses TLS.
  ///   - now: milliseconds since 1970.
  public init(
    settings: ConsoleSettings, redis: RedisClient, services: ConsoleServices, isTLS: Bool, pathPrefix: String, metrics: MetricsRegistry,
    version: String = BuildInformation.version, now: @escaping @Sendable () -> Int64 = { WallClock.now() }
  ) throws {
    self.settings = settings
    base = pathPrefix + "/console"
    sessions = SignInStore(redis: redis, lifetime: settings.session)
    self.services = services
    self.isTLS = isTLS
    self.version = version
    self.metrics = metrics
    self.now = now
    templates = try Templates()
    assets = [
      "/style.css": Asset("text/css; charset=utf-8", PackageResources.style_css),
      "/console.js": Asset("text/javascript; charset=utf-8", PackageResources.console_js),
      "/icon.svg": Asset("image/svg+xml", PackageResources.icon_svg),
    ]
    metrics.counter(Self.signIns, help: "Sign-ins with a token on the console's page.", labels: ["result"])
  }

  // MARK: Requests

  public func admission(_ request: IncomingRequest, _ access: PageAccess) -> RequestAdmission? {
    guard request.path == base || request.path.hasPrefix(base + "/") else { return nil }
    let path = String(request.path.dropFirst(base.count))
    let isReading = request.method == "GET" || request.method == "HEAD"
    if let asset = assets[path] { return .response(isReading ? asset.response(to: request) : Self.notAllowed("GET")) }
    switch path {
    case "/sign-in" where request.method == "POST":
      return .body(limit: Self.maxFormBytes, SimpleExchange { body, _ in await self.signIn(request, body, access) })
    case "/sign-out":
      guard request.method == "POST" else { return .response(Self.notAllowed("POST")) }
      return .body(limit: Self.maxFormBytes, SimpleExchange { body, _ in await self.signOut(request, body, access) })
    default:
      guard isReading else { return .response(Self.notAllowed(path == "/sign-in" ? "GET, POST" : "GET")) }
      return .body(limit: 0, SimpleExchange { _, _ in await self.page(path, request, access) })
    }
  }

  private static func notAllowed(_ methods: String) -> HTTPResponse {
    var headers = ConsoleHeaders.common
    headers.add(name: "allow", value: methods)
    return HTTPResponse(status: 405, headers: headers)
  }

  // MARK: Users

  /// A person who uses the console, with the permissions of a caller.
  private struct User {
    let caller: CallerDirectory.Caller
    /// Nil if a certificate or an `Authorization` header identifies the caller.
    let session: ConsoleSession?
  }

  /// Nil for an unknown user. Throws if Redis, which stores the sessions, does not answer.
  private func user(_ request: IncomingRequest, _ access: PageAccess) async throws(RedisError) -> User? {
    let callers = access.callers
    let names = request.peer.certificateNames
    if let name = cookie(.session, request).value(in: request), let session = try await sessions.session(name, now: now()),
      let caller = callers.caller(ofToken: session.fingerprint)
    {
      // A session and a client certificate must identify the same caller.
      guard !names.isEmpty else { return User(caller: caller, session: session) }
      return callers.caller(authorization: nil, certificateNames: names)?.name == caller.name
        ? User(caller: caller, session: session) : nil
    }
    return callers.caller(authorization: request.header("authorization"), certificateNames: names).map { User(caller: $0, session: nil) }
  }

  private func cookie(_ name: Cookie.Name, _ request: IncomingRequest) -> Cookie {
    Cookie(name: name, isSecure: isSecure(request), base: base)
  }

  /// True if the browser's connection uses TLS, which verifier or a load balancer before it ends. A client that sends the header falsely
  /// gets a cookie that its browser does not send back in clear text, so it harms only itself.
  private func isSecure(_ request: IncomingRequest) -> Bool {
    isTLS || request.header("x-forwarded-proto")?.lowercased() == "https"
  }

  /// True unless the browser's headers `Sec-Fetch-Site` and `Origin` say that a page of another origin sent the form. Old browsers send
  /// neither header; the form's token (``FormToken``) is required in any case.
  static func isFromSameOrigin(_ request: IncomingRequest) -> Bool {
    if let site = request.header("sec-fetch-site"), site != "same-origin", site != "none" { return false }
    guard let origin = request.header("origin") else { return true }
    // HTTP/2 requests have this header too: `HTTP2RequestHead` makes it from `:authority`.
    guard let host = request.header("host"), let scheme = origin.firstRange(of: "://") else {
      // Without two hosts to compare, only `Sec-Fetch-Site` can show where the form comes from. The origin `null` is that of a sandboxed
      // page.
      return request.header("sec-fetch-site") != nil && origin != "null"
    }
    return origin[scheme.upperBound...].lowercased() == host.lowercased()
  }

  /// The path to which a user is sent after signing in: the requested one if it is a page of the console, or else the overview. It never
  /// leads to another site.
  func destination(_ text: String?) -> String {
    guard let text, text == base || text.hasPrefix(base + "/") || text.hasPrefix(base + "?"), text.utf8.count <= 512 else { return base }
    let marks = Set("/?&=._-%+".utf8)
    let isPlain = text.utf8.allSatisfy { byte in
      (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || marks.contains(byte)
    }
    return isPlain && !text.contains("//") && !text.contains("/sign-") ? text : base
  }

  // MARK: Signing in and out

  private func signInPage(_ request: IncomingRequest, status: Int, next: String, error: String = "") -> HTTPResponse {
    let cookie = cookie(.form, request)
    var cookies: [String] = []
    let secret: [UInt8]
    if let known = cookie.value(in: request).flatMap(Hex.decode), known.count == ConsoleSession.size {
      secret = known
    } else {
      secret = RandomBytes.make(ConsoleSession.size)
      cookies = [cookie.setting(Hex.encode(secret), seconds: 3600)]
    }
    let model = SignInPage(base: base, formToken: FormToken.make(secret), next: next, error: error, version: version)
    return ConsoleHeaders.page(status, templates.page("sign-in", model), cookies: cookies)
  }

  private func signIn(_ request: IncomingRequest, _ body: [UInt8], _ access: PageAccess) async -> HTTPResponse {
    let fields = FormFields(String(decoding: body, as: UTF8.self))
    let next = destination(fields["next"])
    func refuse(_ status: Int, _ error: String) -> HTTPResponse {
      metrics.add(Self.signIns, 1, ["refused"])
      return signInPage(request, status: status, next: next, error: error)
    }
    guard request.mediaType == "application/x-www-form-urlencoded", Self.isFromSameOrigin(request),
      let secret = cookie(.form, request).value(in: request).flatMap(Hex.decode), secret.count == ConsoleSession.size,
      FormToken.matches(fields["form"] ?? "", secret)
    else { return refuse(403, "The form is too old or comes from another site, or your browser stores no cookies. Please try again.") }
    let token = (fields["token"] ?? "").trimmed
    guard let (caller, fingerprint) = access.callers.signIn(token: token) else { return refuse(403, "No caller has this token.") }
    let names = request.peer.certificateNames
    if !names.isEmpty, access.callers.caller(authorization: nil, certificateNames: names)?.name != caller.name {
      return refuse(403, "Your certificate belongs to another caller than this token.")
    }
    guard ConsolePage.overview.methods.contains(where: { access.calls(of: caller).may($0) }) else {
      return refuse(403, "The caller \(caller.name) may call none of the methods that the console shows.")
    }
    do throws(RedisError) {
      let name = try await sessions.begin(fingerprint: fingerprint, now: now())
      metrics.add(Self.signIns, 1, ["ok"])
      let cookies = [
        cookie(.session, request).setting(name, seconds: settings.session.milliseconds / 1000), cookie(.form, request).clearing,
      ]
      return ConsoleHeaders.redirect(to: next, cookies: cookies)
    } catch {
      return signInPage(request, status: 503, next: next, error: "Redis does not answer: nobody can sign in now.")
    }
  }

  private func signOut(_ request: IncomingRequest, _ body: [UInt8], _ access: PageAccess) async -> HTTPResponse {
    let fields = FormFields(String(decoding: body, as: UTF8.self))
    let cookie = cookie(.session, request)
    guard let name = cookie.value(in: request) else { return ConsoleHeaders.redirect(to: base + "/sign-in") }
    do throws(RedisError) {
      if let session = try await sessions.session(name, now: now()) {
        guard Self.isFromSameOrigin(request), FormToken.matches(fields["form"] ?? "", session.formSecret) else {
          return ConsoleHeaders.page(403, Array("Not signed out: the form does not belong to this session.".utf8))
        }
        try await sessions.end(name)
      }
    } catch {
      return ConsoleHeaders.page(503, Array("Not signed out: Redis does not answer.".utf8))
    }
    return ConsoleHeaders.redirect(to: base + "/sign-in", cookies: [cookie.clearing])
  }

  // MARK: Pages

  private func page(_ path: String, _ request: IncomingRequest, _ access: PageAccess) async -> HTTPResponse {
    let target = request.path + (request.query.map { "?" + $0 } ?? "")
    let fields = FormFields(request.query ?? "")
    let user: User?
    do throws(RedisError) { user = try await self.user(request, access) } catch {
      return signInPage(request, status: 503, next: destination(target), error: "Redis does not answer: sessions cannot be looked up.")
    }
    if path == "/sign-in" {
      let next = destination(fields["next"])
      return user == nil ? signInPage(request, status: 200, next: next) : ConsoleHeaders.redirect(to: next)
    }
    guard let user else {
      let next = destination(target)
      return ConsoleHeaders.redirect(to: base + "/sign-in" + (next == base ? "" : "?next=" + FormFields.encoded(next)))
    }
    let reader = ConsoleReader(calls: access.calls(of: user.caller), services: services, cache: cache)
    let now = now()
    if path.hasPrefix(ConsolePage.deadLetters.path + "/") {
      let parts = path.dropFirst(ConsolePage.deadLetters.path.count + 1).split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 2, let queue = QueueName(rawValue: String(parts[0])), let id = DeliveryID(String(parts[1])) else {
        return message(404, .deadLetters, user, reader, "No such dead letter", "This URL names no queue, or no valid id of a dead letter.")
      }
      let model = await DeadLetterPage(layout(.deadLetters, user, reader), reader, queue: queue, id: id, now: now)
      return ConsoleHeaders.page(model.isMissing ? 404 : 200, templates.page("dead-letter", model))
    }
    guard let page = ConsolePage.allCases.first(where: { $0.path == path || $0.path + "/" == path }) else {
      return message(404, nil, user, reader, "No such page", "Every page of the console is linked above.")
    }
    let html = await html(page, layout(page, user, reader), reader, fields, now: now)
    return ConsoleHeaders.page(200, html)
  }

  private func html(_ page: ConsolePage, _ layout: Layout, _ reader: ConsoleReader, _ fields: FormFields, now: Int64) async -> [UInt8] {
    switch page {
    case .overview: templates.page("overview", await OverviewPage(layout, reader))
    case .deliveries: templates.page("deliveries", await DeliveriesPage(layout, reader, fields))
    case .values: templates.page("values", await ValuesPage(layout, reader, fields))
    case .queues: templates.page("queues", await QueuesPage(layout, reader, now: now))
    case .deadLetters: templates.page("dead-letters", await DeadLettersPage(layout, reader, fields, now: now))
    case .subscriptions: templates.page("feed", await FeedPage(layout, reader, now: now))
    case .appStore: templates.page("app-store", await AppStorePage(layout, reader, fields, now: now))
    case .recovery: templates.page("recovery", await RecoveryPage(layout, reader, now: now))
    case .keys: templates.page("keys", await KeysPage(layout, reader))
    }
  }

  private func message(
    _ status: Int, _ page: ConsolePage?, _ user: User, _ reader: ConsoleReader, _ heading: String, _ text: String
  ) -> HTTPResponse {
    let model = MessagePage(layout: layout(page, user, reader), heading: heading, text: text)
    return ConsoleHeaders.page(status, templates.page("message", model))
  }

  private func layout(_ page: ConsolePage?, _ user: User, _ reader: ConsoleReader) -> Layout {
    Layout(
      base: base, title: page?.title ?? "Not found",
      pages: ConsolePage.allCases.filter { page in page.methods.contains { reader.may($0) } }.map {
        Layout.Link(title: $0.title, href: base + $0.path, isCurrent: $0 == page)
      },
      caller: user.caller.name, canSignOut: user.session != nil, formToken: user.session.map { FormToken.make($0.formSecret) } ?? "",
      version: version, now: Moment(Timestamp(millisecondsSince1970: now()), now: now()))
  }
}

extension String {
  /// The text without surrounding white space.
  var trimmed: String {
    var rest = Substring(self)
    while rest.first?.isWhitespace == true { rest = rest.dropFirst() }
    while rest.last?.isWhitespace == true { rest = rest.dropLast() }
    return String(rest)
  }
}
