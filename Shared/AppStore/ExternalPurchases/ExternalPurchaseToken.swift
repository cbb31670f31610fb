import Cryptography
public import WireJSON

/// The token of a purchase outside of the App Store (Receiving and decoding external purchase tokens; externalPurchaseToken).
///
/// StoreKit gives the token to an app, or appends it to a website's URL, as Base64URL of a JSON object. A notification contains the object
/// itself. A token from an app proves nothing, because Apple does not sign it.
public struct ExternalPurchaseToken: Sendable, Hashable {
  /// Why a token cannot be read.
  public enum Failure: Error, Sendable, Hashable {
    case tooLarge(limit: Int)
    case notBase64URL
    case notAnObject
    /// A member is missing, empty or of a wrong type.
    case malformed(field: String)
  }

  /// The longest text that is parsed, bytes. Apple's tokens have a few hundred.
  public static let maxTextBytes = 8 << 10

  /// `externalPurchaseId`, which identifies the token in reports.
  public let id: String
  /// Milliseconds since 1970.
  public let creationDate: Int64?
  public let appAppleId: Int64?
  public let bundleId: String?
  /// Custom link tokens only: `ACQUISITION`, `SERVICES`, `IN_APP`, `LINK_OUT`, `CORE_TECHNOLOGY` or a newer value.
  public let type: String?
  /// Custom link tokens only: milliseconds since 1970.
  public let expirationDate: Int64?
  /// All members, unchanged.
  public let object: JSONObject

  /// Decodes StoreKit's text. Surrounding white space and padding at the end are ignored.
  public init(decoding text: String) throws(Failure) {
    guard text.utf8.count <= Self.maxTextBytes else { throw .tooLarge(limit: Self.maxTextBytes) }
    var bytes = text.utf8[...]
    while let first = bytes.first, first <= 0x20 { bytes.removeFirst() }
    while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
    var padding = 0
    while bytes.last == UInt8(ascii: "="), padding < 2 {
      bytes.removeLast()
      padding += 1
    }
    guard !bytes.isEmpty, let decoded = Base64.decodeURL(Substring(bytes)) else { throw .notBase64URL }
    guard let object = try? JSONValue(parsing: decoded).objectValue else { throw .notAnObject }
    try self.init(object)
  }

  /// Reads a decoded object, such as the one in a notification.
  public init(_ object: JSONObject) throws(Failure) {
    func text(_ name: String) throws(Failure) -> String? {
      guard let value = object[name], !value.isNull else { return nil }
      guard let text = value.stringValue, !text.isEmpty else { throw .malformed(field: name) }
      return text
    }
    func integer(_ name: String) throws(Failure) -> Int64? {
      guard let value = object[name], !value.isNull else { return nil }
      guard let integer = value.int64Value else { throw .malformed(field: name) }
      return integer
    }
    guard let id = try text("externalPurchaseId") else { throw .malformed(field: "externalPurchaseId") }
    self.id = id
    creationDate = try integer("tokenCreationDate")
    appAppleId = try integer("appAppleId")
    bundleId = try text("bundleId")
    type = try text("tokenType")
    expirationDate = try integer("tokenExpirationDate")
    self.object = object
  }

  /// The environment, by Apple's name. A token does not contain it; it follows from the id.
  public var environment: String { Self.server(ofId: id).rawValue }

  /// The server that made the token with this id: the ids of the sandbox begin with `SANDBOX`.
  static func server(ofId id: String) -> AppStoreServer { id.hasPrefix("SANDBOX") ? .sandbox : .production }

  /// True if a custom link token has expired at `now`, milliseconds since 1970; nil for a token that does not expire.
  public func isExpired(at now: Int64) -> Bool? { expirationDate.map { $0 <= now } }
}
