import Cryptography
public import WireJSON

/// The UUID that links a purchase to the app's own account (UpdateAppAccountTokenRequest).
public struct AppAccountToken: Sendable, Hashable {
  public let text: String

  public init(_ text: String) throws(RequestRefusal) {
    guard UUIDText.isValid(text) else { throw RequestRefusal(field: "appAccountToken", "must be a UUID") }
    self.text = text
  }

  public var body: JSONObject { ["appAccountToken": .string(text)] }
}
