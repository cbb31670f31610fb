public import WireJSON

/// Finds the JWS in responses of the App Store Server API. Their signatures are not verified here.
public enum SignedParts {
  /// The kind of a JWS, by the name of its field.
  public enum Kind: String, Sendable, Hashable {
    case transaction, renewalInfo, appTransaction, notification
  }

  /// A JWS and its kind.
  public struct Part: Sendable, Hashable {
    public let kind: Kind
    public let jws: String
  }

  /// All JWS in a response, at any depth, in the response's order.
  public static func find(in response: JSONObject) -> [Part] {
    var parts: [Part] = []
    for member in response.members { collect(member.key, member.value, &parts) }
    return parts
  }

  private static func collect(_ name: String, _ value: JSONValue, _ parts: inout [Part]) {
    switch value {
    case .string(let text):
      if let kind = kind(of: name) { parts.append(Part(kind: kind, jws: text)) }
    case .array(let elements): for element in elements { collect(name, element, &parts) }
    case .object(let object): for member in object.members { collect(member.key, member.value, &parts) }
    case .null, .bool, .number: break
    }
  }

  private static func kind(of name: String) -> Kind? {
    switch name {
    case "signedTransactionInfo", "signedTransactions": .transaction
    case "signedRenewalInfo": .renewalInfo
    case "signedAppTransactionInfo": .appTransaction
    case "signedPayload": .notification
    default: nil
    }
  }
}
