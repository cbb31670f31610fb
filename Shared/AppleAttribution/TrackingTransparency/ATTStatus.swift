import WireJSON

/// The user's answer to App Tracking Transparency (ATTrackingManager.AuthorizationStatus), as an SDK reports it.
///
/// Only ``authorized`` is consent. No other value is, whether it is known or not.
public enum ATTStatus: Sendable, Hashable {
  /// The app has not asked, or the user has not answered yet.
  case notDetermined
  /// Tracking is blocked on the device, because it is managed or a minor's.
  case restricted
  case denied
  case authorized
  /// The SDK could not read the status, because iOS is older than 14 or the SDK's use of ATT is off. It sent −1 or no status.
  case unavailable
  /// A code that Apple has not defined.
  case unknown(Int64)

  public init(code: Int64) {
    switch code {
    case 0: self = .notDetermined
    case 1: self = .restricted
    case 2: self = .denied
    case 3: self = .authorized
    case -1: self = .unavailable
    default: self = .unknown(code)
    }
  }

  /// Reads a JSON value: an integer, `null` or nothing. Throws ``FieldError`` for anything else, such as a string or a number with a
  /// fraction. If `"3"` were accepted, consent would be guessed.
  public init(parsing value: JSONValue?, field: String = "attStatus") throws(FieldError) {
    switch value {
    case nil, .null: self = .unavailable
    case .number(let number):
      guard let code = number.int64 else { throw FieldError(field: field, reason: "must be a whole number") }
      self.init(code: code)
    default: throw FieldError(field: field, reason: "must be a whole number")
    }
  }

  /// Reads the status that a payload reports: `attStatus`, or `att_status` as SDKs write it. If both are present and contradict each other, the
  /// status is ``unavailable``, which is not consent and ends an earlier consent.
  public init(in payload: JSONObject) throws(FieldError) {
    self = try ATTStatus(parsing: payload["attStatus"])
    guard let second = payload["att_status"], !second.isNull else { return }
    let other = try ATTStatus(parsing: second, field: "att_status")
    guard let first = payload["attStatus"], !first.isNull else {
      self = other
      return
    }
    if self != other { self = .unavailable }
  }

  /// Apple's number; −1 for ``unavailable``.
  public var code: Int64 {
    switch self {
    case .notDetermined: 0
    case .restricted: 1
    case .denied: 2
    case .authorized: 3
    case .unavailable: -1
    case .unknown(let code): code
    }
  }

  /// True if the user has consented, so that all data may be sent.
  public var isConsent: Bool { self == .authorized }

  /// True for Apple's four statuses. Another status is stored for an install only if it ends a consent.
  public var isKnown: Bool { (0...3).contains(code) }
}
