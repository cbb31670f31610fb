import NIOHPACK
import NIOHTTP1

/// What the fields of an HTTP/2 request say, as HTTP/1.1 would have said it (RFC 9113 section 8.3).
struct HTTP2RequestHead {
  private(set) var method = ""
  private(set) var target = "/"
  private(set) var headers = HTTPHeaders()
  /// Whether no value holds what could be taken for the end of a line.
  private(set) var isSafe = true

  init(_ fields: HPACKHeaders) {
    headers.reserveCapacity(fields.count)
    for (name, value, _) in fields {
      switch name {
      case ":method": method = value
      case ":path": target = value
      case ":scheme": break
      case ":authority": headers.add(name: "host", value: value)
      // The authority has said it: two that differ are no request (RFC 9113 section 8.3.1).
      case "host" where headers.first(name: "host") == value: break
      default: headers.add(name: name, value: value)
      }
      isSafe = isSafe && HTTP1Response.isSafe(value) && !value.utf8.contains(0x7F)
    }
  }
}
