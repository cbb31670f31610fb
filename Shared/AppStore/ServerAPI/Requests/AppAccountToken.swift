import Cryptography
public import WireJSON

/// The UUID that links a purchase to the app's own account (Set App Account Token, UpdateAppAccountTokenRequest).
///
/// Here only the form of the UUID is checked. Apple refuses an id that is not an original transaction's (4000187), and a family member's
/// purchase (4000185); its answer to a success has no body.
public struct AppAccountToken: Sendable, Hashable {
  public let text: String

  public init(_ text: String) throws(RequestRefusal) {
    guard UUIDText.isValid(text) else { throw RequestRefusal(field: "appAccountToken", "must be a UUID") }
    self.text = text
  }

  public var body: JSONObject { ["appAccountToken": .string(text)] }
}
