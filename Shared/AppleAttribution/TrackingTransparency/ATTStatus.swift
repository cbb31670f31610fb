import WireJSON

/// The user's answer to App Tracking Transparency (ATTrackingManager.AuthorizationStatus), as an SDK reports it.
///
/// Only ``authorized`` is consent. All other values, known or unknown, are not.
public enum ATTStatus: Sendable, Hashable {
  /// Not asked, or not answered yet.
  case notDetermined
  /// Tracking is blocked on the device: managed, or a minor's.
  case restricted
  case denied
  case authorized
  /// The SDK could not read it (before iOS 14, or ATT switched off): −1, or no status at all.
  case unavailable
  /// A code that Apple has not published.
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

  /// Reads the wire form: an integer, or nothing. Throws ``FieldError`` for a string, a number with a fraction or an exponent, or a
  /// Boolean, because guessing the meaning of `"3"` would be guessing consent.
  public init(parsing value: JSONValue?, field: String = "attStatus") throws(FieldError) {
    switch value {
    case nil, .null: self = .unavailable
    case .number(let number):
      guard let code = number.int64 else { throw FieldError(field: field, reason: "must be a whole number") }
      self.init(code: code)
    default: throw FieldError(field: field, reason: "must be a whole number")
    }
  }

  /// Apple's number; −1 if there is none.
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

  /// True if all data may be sent.
  public var isConsent: Bool { self == .authorized }

  /// True for Apple's four statuses. Another one is stored for an install only if it ends a consent.
  public var isKnown: Bool { (0...3).contains(code) }
}
