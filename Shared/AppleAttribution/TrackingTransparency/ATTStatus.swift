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

  /// What SDKs and their wrappers call the statuses, in the spelling of ``TextVariants/folded(_:)``.
  private static let words: [[UInt8]: ATTStatus] = [
    Array("authorized".utf8): .authorized, Array("authorised".utf8): .authorized, Array("granted".utf8): .authorized,
    Array("denied".utf8): .denied, Array("blocked".utf8): .denied, Array("restricted".utf8): .restricted,
    Array("notdetermined".utf8): .notDetermined, Array("undetermined".utf8): .notDetermined, Array("unavailable".utf8): .unavailable,
    Array("notsupported".utf8): .unavailable,
  ]
  /// The names of types that precede a word: Apple's constants in Objective-C, and enumerations of wrappers.
  private static let prefixes = [
    "attrackingmanagerauthorizationstatus", "authorizationstatus", "trackingstatus", "attstatus",
  ].map { Array($0.utf8) }

  /// The other characters of words. Digits make none, but are no reason to read a part of the text.
  private static let wordSeparators = "0123456789 _-.".unicodeScalars

  /// What a status must be, for errors.
  static let expected = "must be 0 to 3, -1, or a word such as authorized, denied, restricted or not_determined"

  /// Reads a JSON value: an integer, also with a fraction of zero or as text, or a word for a status. Nil for anything else, which is no
  /// consent.
  public init?(_ value: JSONValue) {
    switch value {
    case .number(let number):
      guard let code = number.int64 else { return nil }
      self.init(code: code)
    case .string(let text): self.init(text)
    default: return nil
    }
  }

  /// Reads a text: an integer, or a word for a status in any letter case and with blanks, `_`, `-` and `.` as separators. Nil for anything
  /// else: `!authorized` is no consent.
  public init?(_ text: String) {
    if case .number(let number)? = try? JSONValue(parsing: text) {
      self.init(.number(number))
      return
    }
    guard text.unicodeScalars.allSatisfy({ $0.isASCII && ($0.properties.isAlphabetic || Self.wordSeparators.contains($0)) }) else {
      return nil
    }
    var word = TextVariants.folded(text.utf8)[...]
    if let prefix = Self.prefixes.first(where: { word.starts(with: $0) && word.count > $0.count }) { word = word.dropFirst(prefix.count) }
    guard let status = Self.words[Array(word)] else { return nil }
    self = status
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
