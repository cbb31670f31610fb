import ServiceRuntime

/// The console's cookies: for its own pages alone, out of scripts' reach, and never sent along from another site.
struct Cookie: Sendable, Hashable {
  enum Name: String {
    /// Names the session.
    case session = "console"
    /// What the form for signing in carries too.
    case form = "console-form"
  }

  let name: Name
  /// Whether it travels over TLS alone.
  let isSecure: Bool
  /// Where the console begins.
  let base: String

  /// `__Host-` has the browser refuse it where another host of the domain, or clear text, has set it.
  private var fullName: String { (isSecure ? "__Host-" : "") + name.rawValue }

  /// The value of `Set-Cookie`.
  func setting(_ value: String, seconds: Int64) -> String {
    "\(fullName)=\(value); Path=\(isSecure ? "/" : base); Max-Age=\(seconds); HttpOnly; SameSite=Strict\(isSecure ? "; Secure" : "")"
  }

  /// The value of `Set-Cookie` that takes it away.
  var clearing: String { setting("", seconds: 0) }

  /// Its value in a request; nil where it is missing, or there several times: one of them is not ours.
  func value(in request: IncomingRequest) -> String? {
    var found: String?
    for header in request.values("cookie") {
      for part in header.split(separator: ";") {
        let pair = part.drop { $0 == " " }
        guard let equals = pair.firstIndex(of: "="), pair[..<equals] == fullName else { continue }
        guard found == nil else { return nil }
        found = String(pair[pair.index(after: equals)...])
      }
    }
    return found
  }
}
