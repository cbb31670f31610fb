import Cryptography
import WireJSON

/// A session or event that an SDK sent, with the fields that its routing needs. ``ATTInstall`` decides whether it is held,
/// ``ConsentFilter`` what may be sent, ``ConsentRoutingTable`` where it is sent.
public struct SessionSubmission: Sendable, Hashable {
  /// The kind of the message in the queue `sessions`.
  public static let messageKind = "session"
  /// The longest bundle id and install id, bytes.
  public static let maxIdentifierBytes = 255

  public let bundleId: String
  public let installId: String
  /// The status that the session reports.
  public let attStatus: ATTStatus
  /// `attConsentWaitingInterval`: how long the session may be held for the user's answer, seconds.
  public let waitingInterval: Int64?
  /// `urlStrategy`; nil if the session names none.
  public let strategy: String?
  /// `deviceTime`, milliseconds since 1970; nil if the session states none.
  public let deviceTime: Int64?
  /// The whole payload, unchanged.
  public let payload: JSONObject

  /// Reads a body. Throws ``FieldError`` with the field.
  public init(_ payload: JSONObject) throws(FieldError) {
    bundleId = try Self.identifier("bundleId", in: payload)
    installId = try Self.identifier("installId", in: payload)
    attStatus = try ATTStatus(in: payload)
    switch payload["attConsentWaitingInterval"] {
    case nil, .null: waitingInterval = nil
    case .number(let number):
      guard let seconds = number.int64 else {
        throw FieldError(field: "attConsentWaitingInterval", reason: "must be a whole number of seconds")
      }
      waitingInterval = seconds
    default: throw FieldError(field: "attConsentWaitingInterval", reason: "must be a whole number of seconds")
    }
    strategy = try Self.strategy(in: payload)
    deviceTime = try Self.time("deviceTime", in: payload)
    self.payload = payload
  }

  /// The hash of an install's id. It is used in keys, events and logs, because the id cannot be derived from it.
  public static func installHash(bundleId: String, installId: String) -> String {
    String(Hex.encode(SHA256Digest.hash(Array("install\u{0}\(bundleId)\u{0}\(installId)".utf8))).prefix(32))
  }

  /// The hash of the session's install.
  public var installHash: String { Self.installHash(bundleId: bundleId, installId: installId) }

  /// `urlStrategy` of a payload; nil if it names none.
  public static func strategy(in payload: JSONObject) throws(FieldError) -> String? {
    switch payload["urlStrategy"] {
    case nil, .null: return nil
    case .string(let name): return name
    default: throw FieldError(field: "urlStrategy", reason: "must be a string")
    }
  }

  /// The payload with the status to send. The receiver knows the status by the name `att_status`, so this field is always present.
  public static func outgoing(_ payload: JSONObject, status: ATTStatus) -> JSONObject {
    var payload = payload
    if payload["attStatus"] != nil { payload["attStatus"] = .integer(status.code) }
    payload["att_status"] = .integer(status.code)
    return payload
  }

  /// A required id in a payload: 1 to 255 bytes without control characters.
  public static func identifier(_ name: String, in payload: JSONObject) throws(FieldError) -> String {
    guard let text = payload[name]?.stringValue else { throw FieldError(field: name, reason: "must be a string") }
    return try identifier(name, text)
  }

  /// A required id from a path or a query.
  public static func identifier(_ name: String, _ text: String) throws(FieldError) -> String {
    guard (1...maxIdentifierBytes).contains(text.utf8.count),
      text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
    else {
      throw FieldError(field: name, reason: "must be 1 to \(maxIdentifierBytes) bytes without control characters")
    }
    return text
  }

  /// A device's time, as RFC 3339 or as whole milliseconds since 1970; nil if it is absent.
  public static func time(_ name: String, in payload: JSONObject) throws(FieldError) -> Int64? {
    switch payload[name] {
    case nil, .null: return nil
    case .number(let number):
      if let milliseconds = number.int64, milliseconds >= 0 { return milliseconds }
    case .string(let text):
      if let milliseconds = DeviceTime.milliseconds(text) { return milliseconds }
    default: break
    }
    throw FieldError(field: name, reason: "must be a time of RFC 3339 or milliseconds since 1970")
  }
}
