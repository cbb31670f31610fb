import AttributionProtocol
import Cryptography
import ServiceRuntime

/// Every private key of the deployment. No other service holds one.
struct Keyring: Sendable {
  /// A key of an ad network.
  struct ImpressionKey: Sendable {
    let id: String
    let state: DeploymentConfiguration.Key.State
    /// Nil when revoked: its file may be gone, and it must never sign again.
    let key: SigningKey?
    /// PEM; empty when revoked.
    let publicKey: String
  }

  /// A key of App Store Connect.
  struct AppKey: Sendable {
    let keyId: String
    let issuerId: String?
    let key: SigningKey
    let publicKey: String
  }

  /// What is configured for an app.
  struct AppKeys: Sendable {
    let server: AppKey?
    let offers: AppKey?
  }

  let adNetworks: [String: [ImpressionKey]]
  let apps: [String: AppKeys]
  private let active: [String: (id: String, key: SigningKey)]

  /// Loads every key file. Throws with the place in the configuration, the file and the reason.
  init(_ configuration: DeploymentConfiguration) throws(ConfigurationError) {
    var files = KeyFiles()
    var adNetworks: [String: [ImpressionKey]] = [:]
    var active: [String: (id: String, key: SigningKey)] = [:]
    for network in configuration.adNetworks {
      var keys: [ImpressionKey] = []
      for key in network.keys {
        guard !keys.contains(where: { $0.id == key.id }) else { throw ConfigurationError("\(key.place).id", "stands twice") }
        guard key.state != .revoked else {
          keys.append(ImpressionKey(id: key.id, state: key.state, key: nil, publicKey: ""))
          continue
        }
        let loaded = try files.load(key.path, passphraseFile: key.passphraseFile, place: key.place)
        keys.append(ImpressionKey(id: key.id, state: key.state, key: loaded, publicKey: loaded.publicKey.pem))
        if key.state == .active {
          guard active[network.id] == nil else {
            throw ConfigurationError(
              "\(key.place).state", "another key of this ad network is active; one signs, others are pending or retiring")
          }
          active[network.id] = (key.id, loaded)
        }
      }
      adNetworks[network.id] = keys
    }
    var apps: [String: AppKeys] = [:]
    for app in configuration.apps {
      apps[app.bundleId] = AppKeys(server: try files.load(app.appStoreServer), offers: try files.load(app.offers))
    }
    self.adNetworks = adNetworks
    self.apps = apps
    self.active = active
  }

  /// The key that signs for an ad network. Throws `not_found`, or `failed_precondition` when none is active.
  func active(for adNetworkId: String) throws(RPCError) -> (id: String, key: SigningKey) {
    if let key = active[adNetworkId] { return key }
    guard adNetworks[adNetworkId] != nil else { throw .notFound("unknown ad network", field: "adNetworkId") }
    throw .failedPrecondition("no key of this ad network is active", reason: "KEY_UNAVAILABLE")
  }

  /// The keys of an app. Throws `invalid_argument` without a bundle id, `not_found` for an unknown one.
  func app(_ bundleId: String?) throws(RPCError) -> (bundleId: String, keys: AppKeys) {
    guard let bundleId, !bundleId.isEmpty else { throw .invalidArgument(field: "bundleId", "is required") }
    guard let keys = apps[bundleId] else { throw .notFound("unknown app", field: "bundleId") }
    return (bundleId, keys)
  }

  /// The key that signs what an app hands to StoreKit, with its issuer: the one for offers, else the one for Apple's API.
  func appRequestKey(_ bundleId: String?) throws(RPCError) -> (bundleId: String, key: AppKey) {
    let (bundleId, keys) = try app(bundleId)
    guard let key = keys.offers ?? keys.server else {
      throw .failedPrecondition("no In-App Purchase key is configured for this app", reason: "KEY_UNAVAILABLE")
    }
    let issuerId = key.issuerId ?? keys.server?.issuerId
    return (bundleId, AppKey(keyId: key.keyId, issuerId: issuerId, key: key.key, publicKey: key.publicKey))
  }
}
