import COpenSSL

/// OpenSSL keeps errors in a queue for each thread, which must be emptied where they are reported.
enum OpenSSLErrors {
  struct Entry: Sendable, Hashable {
    /// The library's registered name.
    let library: String
    let reason: Int
    let text: String?

    /// True for the error of a cipher or digest that no loaded provider has.
    var saysUnknownCipher: Bool { text == "unsupported" && library == "digital envelope routines" }
  }

  /// Empties the queue. Returns the newest error's text, or the given one if there is none.
  static func drain(_ otherwise: String) -> String {
    drain().last { $0.text != nil }?.text ?? otherwise
  }

  /// Empties the queue, oldest first.
  static func drain() -> [Entry] {
    var entries: [Entry] = []
    while true {
      let code = ERR_get_error()
      if code == 0 { return entries }
      entries.append(
        Entry(
          library: ERR_lib_error_string(code).map { String(cString: $0) } ?? "", reason: Int(ERR_GET_REASON(code)),
          text: ERR_reason_error_string(code).map { String(cString: $0) }))
    }
  }
}
