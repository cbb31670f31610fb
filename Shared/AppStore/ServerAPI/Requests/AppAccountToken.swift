import Cryptography
public import WireJSON

/// The UUID that links a purchase to the app's own account (Set App Account Token, UpdateAppAccountTokenRequest).
///
/// Only the format of the UUID is checked here. Apple refuses an id that is not an original transaction's (4000187), and the purchase of a
/// family member (4000185). Its response to a success has no body.
public struct AppAccountToken: Sendable, Hashable {
  /// The UUID as written by the caller.
  public let text: String

  public init(_ text: String) throws(RequestRefusal) {
    guard UUIDText.isValid(text) else { throw RequestRefusal(field: "appAccountToken", "must be a UUID") }
    self.text = text
  }

  /// The body as it is sent to Apple.
  public var body: JSONObject { ["appAccountToken": .string(text)] }
}
