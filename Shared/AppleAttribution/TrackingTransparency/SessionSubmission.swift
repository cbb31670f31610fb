import Cryptography
import WireJSON

/// A session or an event that an SDK sends, as far as its routing needs to know it; the rest is passed on untouched.
public struct SessionSubmission: Sendable, Hashable {
  /// What kind of message carries a session in the queue `sessions`.
  public static let messageKind = "session"
  /// The longest bundle id and install id, in bytes.
  public static let maximumIdentifierBytes = 255

  public let bundleId: String
  public let installId: String
  public let attStatus: ATTStatus
  /// `attConsentWaitingInterval`, seconds.
  public let waitingInterval: Int64?
  /// `urlStrategy`, where the session itself names one.
  public let strategy: String?
  /// `deviceTime` (RFC 3339 or milliseconds since 1970), milliseconds since 1970.
  public let deviceTime: Int64?
  /// Everything, as it came.
  public let payload: JSONObject

  /// Reads a body. Throws ``FieldError`` naming the field.
  public init(_ payload: JSONObject) throws(FieldError) {
    bundleId = try Self.identifier("bundleId", in: payload)
    installId = try Self.identifier("installId", in: payload)
    attStatus = try Self.status(in: payload)
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

  /// What an install is known by in keys, events and logs: nothing that leads back to its id.
  public static func installHash(bundleId: String, installId: String) -> String {
    String(Hex.encode(SHA256Digest.hash(Array("install\u{0}\(bundleId)\u{0}\(installId)".utf8))).prefix(32))
  }

  public var installHash: String { Self.installHash(bundleId: bundleId, installId: installId) }

  /// The status of a payload: `attStatus`, or `att_status` as SDKs write it on the way out. Two that differ contradict
  /// each other and are no consent.
  public static func status(in payload: JSONObject) throws(FieldError) -> ATTStatus {
    let status = try ATTStatus(parsing: payload["attStatus"])
    guard let second = payload["att_status"], !second.isNull else { return status }
    let other = try ATTStatus(parsing: second, field: "att_status")
    guard let first = payload["attStatus"], !first.isNull else { return other }
    return status == other ? status : .unavailable
  }

  /// `urlStrategy`, where the payload names one.
  public static func strategy(in payload: JSONObject) throws(FieldError) -> String? {
    switch payload["urlStrategy"] {
    case nil, .null: return nil
    case .string(let name): return name
    default: throw FieldError(field: "urlStrategy", reason: "must be a string")
    }
  }

  /// The payload as it leaves with a status: the status is told always, under the name the receiving side knows.
  public static func outgoing(_ payload: JSONObject, status: ATTStatus) -> JSONObject {
    var payload = payload
    if payload["attStatus"] != nil { payload["attStatus"] = .integer(status.code) }
    payload["att_status"] = .integer(status.code)
    return payload
  }

  /// A required id: 1 to 255 bytes, no control characters.
  public static func identifier(_ name: String, in payload: JSONObject) throws(FieldError) -> String {
    guard let text = payload[name]?.stringValue else { throw FieldError(field: name, reason: "must be a string") }
    return try identifier(name, text)
  }

  /// The same for a text from elsewhere, a path or a query.
  public static func identifier(_ name: String, _ text: String) throws(FieldError) -> String {
    guard (1...maximumIdentifierBytes).contains(text.utf8.count),
      text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
    else {
      throw FieldError(field: name, reason: "must be 1 to \(maximumIdentifierBytes) bytes without control characters")
    }
    return text
  }

  /// A device's time: RFC 3339, or whole milliseconds since 1970.
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
