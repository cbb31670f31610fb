import COpenSSL

/// OpenSSL keeps errors in a queue of the thread; it must be emptied where they are reported.
enum OpenSSLErrors {
  /// Empties the queue; the newest error's text, or the given one where there is none.
  static func drain(_ otherwise: String) -> String {
    var text = otherwise
    while true {
      let code = ERR_get_error()
      if code == 0 { return text }
      if let reason = ERR_reason_error_string(code) { text = String(cString: reason) }
    }
  }
}
