public import WireJSON

/// Finds the JWS in Apple's answers, in order.
public enum SignedParts {
  /// The kind of a JWS, by the name of its field.
  public enum Kind: String, Sendable, Hashable {
    case transaction, renewalInfo, appTransaction, notification
  }

  public struct Part: Sendable, Hashable {
    public let kind: Kind
    public let jws: String
  }

  /// All JWS of an answer, at any depth.
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
