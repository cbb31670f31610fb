import ServiceRuntime

/// A cookie of the console. Scripts cannot read it, and browsers do not send it with requests that another site causes.
struct Cookie: Sendable, Hashable {
  enum Name: String {
    /// The name of the session.
    case session = "console"
    /// The secret of the sign-in form.
    case form = "console-form"
  }

  let name: Name
  /// True if browsers send it only over TLS.
  let isSecure: Bool
  /// The base path of the console, to which a cookie without TLS is limited.
  let base: String

  /// The prefix `__Host-` makes the browser refuse the cookie if another host of the domain, or a clear-text response, has set it. Such a
  /// cookie must have the path `/`.
  private var fullName: String { (isSecure ? "__Host-" : "") + name.rawValue }

  /// The value of `Set-Cookie`.
  func setting(_ value: String, seconds: Int64) -> String {
    "\(fullName)=\(value); Path=\(isSecure ? "/" : base); Max-Age=\(seconds); HttpOnly; SameSite=Strict\(isSecure ? "; Secure" : "")"
  }

  /// The value of `Set-Cookie` that removes the cookie.
  var clearing: String { setting("", seconds: 0) }

  /// The cookie's value in a request; nil if it is missing. Also nil if it occurs twice, because then another host or path has set one of
  /// them.
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
