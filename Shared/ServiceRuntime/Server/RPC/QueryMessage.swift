import AttributionProtocol
import Cryptography

/// The message of an RPC that was called with GET, which is in the query by Connect's protocol. ``RPCServer`` answers GET with 405 if the
/// method may change something. ``ResponseCompression`` adds `Cache-Control: no-store` to the responses.
struct QueryMessage {
  let bytes: [UInt8]

  /// - Parameters:
  ///   - limit: the maximum size of the message after inflation, bytes.
  ///   - ratio: the maximum ratio of inflated to sent bytes.
  ///   - reservation: where the memory of inflated bytes is reserved.
  init(_ query: String, limit: Int, ratio: Int, reservation: BodyReservation) throws(RPCError) {
    var values: [String: String] = [:]
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decode(parts[0]), let value = Self.decode(parts.count > 1 ? parts[1] : "") else {
        throw RPCError(.invalidArgument, "the query must be UTF-8 in percent-encoding")
      }
      values[name] = value
    }
    guard values["encoding"] == "json" else { throw .invalidArgument(field: "encoding", "must be json") }
    guard let message = values["message"] else { throw .invalidArgument(field: "message", "is missing") }
    if let version = values["connect"], version != "v1" { throw .invalidArgument(field: "connect", "must be v1") }
    var bytes: [UInt8]
    if values["base64"] == "1" {
      var text = message
      while text.hasSuffix("=") { text.removeLast() }
      guard let decoded = Base64.decodeURL(text) else {
        throw .invalidArgument(field: "message", "is not URL-safe Base64")
      }
      bytes = decoded
    } else {
      bytes = Array(message.utf8)
    }
    switch values["compression"] {
    case nil, "identity", "": break
    case "gzip":
      do throws(Gzip.Failure) {
        bytes = try Gzip.inflate(bytes, limit: limit, ratio: ratio, on: reservation)
      } catch {
        switch error {
        case .tooLarge: throw RPCError(.resourceExhausted, "the request is larger than \(limit) bytes", reason: "REQUEST_TOO_LARGE")
        case .malformed: throw .invalidArgument(field: "message", "is not gzip")
        case .noRoom: throw .noRoomForBodies
        }
      }
    default: throw RPCError(.unimplemented, "unknown compression; gzip and identity are accepted")
    }
    guard !bytes.isEmpty else { throw .invalidArgument(field: "message", "is empty; the empty message is {}") }
    self.bytes = bytes
  }

  /// Decodes percent-encoding; nil if it is invalid or the bytes are not UTF-8.
  private static func decode(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(0x20)
      case UInt8(ascii: "%"):
        guard rest.count >= 2, let value = Hex.decode(String(Substring(rest.prefix(2)))) else { return nil }
        bytes += value
        rest = rest.dropFirst(2)
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
