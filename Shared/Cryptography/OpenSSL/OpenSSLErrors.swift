import COpenSSL

/// Reads OpenSSL's queue of errors. Each thread has its own. An error that stays in the queue would be reported for a later call.
enum OpenSSLErrors {
  struct Entry: Sendable, Hashable {
    /// The library's registered name.
    let library: String
    let reason: Int
    let text: String?

    /// True if no loaded provider has the cipher or digest.
    var isUnknownCipher: Bool { text == "unsupported" && library == "digital envelope routines" }
  }

  /// Empties the queue. Returns the text of the newest error that has one, or else the given text.
  static func drain(_ otherwise: String) -> String {
    drain().last { $0.text != nil }?.text ?? otherwise
  }

  /// Empties the queue. Returns its errors, the oldest first.
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
