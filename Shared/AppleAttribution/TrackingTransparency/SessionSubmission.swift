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
  /// What the session says about the status.
  public let report: ATTStatusReport
  /// `attConsentWaitingInterval`: how long the session may be held for the user's answer, seconds, rounded up. Nil, which means no wait, if it
  /// is absent or cannot be read.
  public let waitingInterval: Int64?
  /// `urlStrategy`; nil if the session names none.
  public let strategy: String?
  /// `deviceTime`, milliseconds since 1970; nil if the session states none, or one that cannot be read.
  public let deviceTime: Int64?
  /// The whole payload, unchanged.
  public let payload: JSONObject

  /// Reads a body. Throws ``FieldError`` with the field.
  public init(_ payload: JSONObject) throws(FieldError) {
    bundleId = try Self.identifier("bundleId", in: payload)
    installId = try Self.identifier("installId", in: payload)
    report = ATTStatusReport(in: payload)
    waitingInterval = Self.seconds(payload["attConsentWaitingInterval"])
    strategy = try Self.strategy(in: payload)
    deviceTime = DeviceTime.milliseconds(payload["deviceTime"])
    self.payload = payload
  }

  /// The status that the session reports.
  public var attStatus: ATTStatus { report.status }

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
    for name in payload.keys where ATTStatusReport.isName(name) { payload[name] = .integer(status.code) }
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

  /// A number of seconds, also as text, rounded up; nil for anything else.
  private static func seconds(_ value: JSONValue?) -> Int64? {
    var value = value
    if case .string(let text) = value { value = try? JSONValue(parsing: text) }
    guard let seconds = value?.numberValue?.double, !seconds.isNaN else { return nil }
    return Int64(min(max(seconds.rounded(.up), -1), 1e9))
  }
}
