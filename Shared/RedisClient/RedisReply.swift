/// What Redis answered (RESP2).
public enum RedisReply: Sendable, Hashable {
  case null
  case integer(Int64)
  /// A simple or a bulk string.
  case bytes([UInt8])
  case array([RedisReply])
  /// Redis refused the command; its own words.
  case error(String)

  public var string: String? {
    if case .bytes(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil }
  }
  public var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
  public var array: [RedisReply]? { if case .array(let replies) = self { replies } else { nil } }
  public var isNull: Bool { self == .null }

  /// An integer, also when it stands as text.
  public var integer: Int64? {
    switch self {
    case .integer(let value): value
    case .bytes(let bytes): Int64(String(decoding: bytes, as: UTF8.self))
    default: nil
    }
  }
}
