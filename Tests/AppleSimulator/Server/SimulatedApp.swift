import WireJSON

/// An app with its settings in App Store Connect.
public struct SimulatedApp: Sendable {
  /// An In-App Purchase key of the app's team.
  struct APIKey: Sendable {
    var issuerID: String
    var keyID: String
    var publicPEM: String
    var key: VerifyingKey
  }

  var bundleID: String
  var appAppleID: Int64?
  var notificationURLs: [AppStoreEnvironment: OutgoingURL] = [:]
  var keys: [APIKey] = []
  /// An app that was never released gets 401 from production for every call.
  var isReleased = true

  /// Reads the body of `POST /control/apps`.
  init(_ json: JSONObject) throws {
    guard let bundleID = json["bundleId"]?.stringValue, !bundleID.isEmpty else {
      throw ControlError("bundleId: required")
    }
    self.bundleID = bundleID
    appAppleID = json["appAppleId"]?.int64Value
    isReleased = json["released"]?.boolValue ?? true
    for member in json["notificationURLs"]?.objectValue?.members ?? [] {
      guard let environment = AppStoreEnvironment(rawValue: member.key) else {
        throw ControlError("notificationURLs: the members may be Production and Sandbox, but not \(member.key)")
      }
      if member.value.isNull { continue }
      guard let text = member.value.stringValue, let url = OutgoingURL(text) else {
        throw ControlError("notificationURLs.\(member.key): not an http or https URL")
      }
      notificationURLs[environment] = url
    }
    for (index, entry) in (json["apiKeys"]?.arrayValue ?? []).enumerated() {
      guard let issuer = entry["issuerId"]?.stringValue, let id = entry["keyId"]?.stringValue,
        let pem = entry["publicKey"]?.stringValue
      else { throw ControlError("apiKeys[\(index)]: issuerId, keyId and publicKey are required") }
      guard let key = try? VerifyingKey(pem: pem), key.width == 32 else {
        throw ControlError("apiKeys[\(index)].publicKey: not a P-256 public key in PEM")
      }
      keys.append(APIKey(issuerID: issuer, keyID: id, publicPEM: pem, key: key))
    }
  }

  /// The app in the format of `POST /control/apps`, in which it is stored too.
  var json: JSONObject {
    var object: JSONObject = ["bundleId": .string(bundleID)]
    object["appAppleId"] = appAppleID.map { .integer($0) }
    object["released"] = .bool(isReleased)
    object["notificationURLs"] = .object(
      JSONObject(
        notificationURLs.sorted { $0.key.rawValue < $1.key.rawValue }.map {
          JSONObject.Member(key: $0.key.rawValue, value: .string($0.value.description))
        }))
    object["apiKeys"] = .array(
      keys.map { ["issuerId": .string($0.issuerID), "keyId": .string($0.keyID), "publicKey": .string($0.publicPEM)] })
    return object
  }
}
