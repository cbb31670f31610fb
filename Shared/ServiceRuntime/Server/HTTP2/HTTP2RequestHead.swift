import NIOHPACK
import NIOHTTP1

/// The head of an HTTP/2 request, translated to HTTP/1.1: the pseudo-header fields become the method, the target and the `Host` header (RFC
/// 9113 section 8.3).
struct HTTP2RequestHead {
  private(set) var method = ""
  private(set) var target = "/"
  private(set) var headers = HTTPHeaders()
  /// True if no value contains a control character.
  private(set) var isSafe = true

  init(_ fields: HPACKHeaders) {
    headers.reserveCapacity(fields.count)
    for (name, value, _) in fields {
      switch name {
      case ":method": method = value
      case ":path": target = value
      case ":scheme": break
      case ":authority": headers.add(name: "host", value: value)
      // A `host` equal to `:authority` is dropped. A different one is kept, and the request is refused for two hosts (RFC 9113 section
      // 8.3.1).
      case "host" where headers.first(name: "host") == value: break
      default: headers.add(name: name, value: value)
      }
      isSafe = isSafe && HTTP1Response.isSafe(value) && !value.utf8.contains(0x7F)
    }
  }
}
