import AttributionProtocol
import Cryptography
import ServiceRuntime

/// All signing keys of the deployment, loaded from one configuration. A keyring does not change; ``LiveKeyring`` replaces it when the
/// configuration changes. No other service has these private keys. All are P-256 keys, which sign with SHA-256 (``SigningKey`` refuses other curves).
///
///     let identity = try keyring.active(for: "example123.skadnetwork")   // signs the ad network's impressions
///     let (bundleId, key) = try keyring.appRequestKey("com.example.app") // signs what the app passes to StoreKit
final class Keyring: Sendable {
  /// A key of an ad network, which signs impressions while it is active.
  struct ImpressionKey: Sendable {
    let id: String
    let state: DeploymentConfiguration.Key.State
    /// PEM; empty if the key is revoked.
    let publicKey: String
    /// When the key was created, milliseconds since 1970; nil if that is not known.
    let created: Int64?
  }

  /// An app's key of App Store Connect.
  struct AppKey: Sendable {
    let identity: SigningIdentity
    /// The issuer id of App Store Connect; nil if it is not configured.
    let issuerId: String?
    /// When the key was created, milliseconds since 1970; nil if that is not known.
    let created: Int64?

    var keyId: String { identity.keyId }
  }

  /// The keys of an app.
  struct AppKeys: Sendable {
    /// The key for the App Store Server API.
    let server: AppKey?
    /// The second key for the App Store Server API, for calls that Apple refuses with the first.
    let otherServer: AppKey?
    /// The key for offers.
    let offers: AppKey?

    /// All keys with their uses, as `ListSigningKeys` names them.
    var all: [(key: AppKey, use: String)] {
      let keys = [(server, "appStoreServer"), (otherServer, "otherAppStoreServer"), (offers, "offers")]
      return keys.compactMap { key, use in key.map { ($0, use) } }
    }

    /// The key for the App Store Server API with this id; nil if there is none. Without an id, the first key.
    func serverKey(_ keyId: String?) -> AppKey? {
      keyId == nil ? server : [server, otherServer].compactMap { $0 }.first { $0.keyId == keyId }
    }
  }

  /// The keys of each ad network, by its id.
  let adNetworks: [String: [ImpressionKey]]
  /// The keys of each app, by its bundle id.
  let apps: [String: AppKeys]
  /// The tokens that were made with these keys. A new keyring begins without tokens, so that none of an earlier key is returned.
  let tokens = TokenCache()
  private let active: [String: SigningIdentity]

  /// Loads all keys. An error names the setting, the file and the reason.
  init(_ configuration: DeploymentConfiguration, metrics: MetricsRegistry) throws(ConfigurationError) {
    var sources = KeySources(module: configuration.pkcs11Module)
    var adNetworks: [String: [ImpressionKey]] = [:]
    var active: [String: SigningIdentity] = [:]
    for network in configuration.adNetworks {
      var keys: [ImpressionKey] = []
      for key in network.keys {
        guard !keys.contains(where: { $0.id == key.id }) else {
          throw ConfigurationError("\(key.place).id", "is the id of two keys of this ad network")
        }
        // A revoked key is not loaded: it must never sign again, and its file may be deleted.
        guard key.state != .revoked else {
          keys.append(ImpressionKey(id: key.id, state: key.state, publicKey: "", created: key.created))
          continue
        }
        let loaded = try sources.load(key.source, place: key.place)
        keys.append(
          ImpressionKey(
            id: key.id, state: key.state, publicKey: loaded.publicKey.pem,
            created: KeySources.creation(of: key.source, configured: key.created)))
        if key.state == .active {
          guard active[network.id] == nil else {
            throw ConfigurationError(
              "\(key.place).state",
              "must not be active, because another key of this ad network is active; the others are pending, retiring or revoked")
          }
          active[network.id] = SigningIdentity(owner: network.id, keyId: key.id, key: loaded, metrics: metrics)
        }
      }
      adNetworks[network.id] = keys
    }
    var apps: [String: AppKeys] = [:]
    for app in configuration.apps {
      func appKey(_ key: DeploymentConfiguration.AppStoreKey?) throws(ConfigurationError) -> AppKey? {
        guard let key else { return nil }
        let loaded = try sources.load(key.source, place: key.place)
        return AppKey(
          identity: SigningIdentity(owner: app.bundleId, keyId: key.keyId, key: loaded, metrics: metrics), issuerId: key.issuerId,
          created: KeySources.creation(of: key.source, configured: key.created))
      }
      apps[app.bundleId] = AppKeys(
        server: try appKey(app.appStoreServer), otherServer: try appKey(app.otherAppStoreServer), offers: try appKey(app.offers))
    }
    self.adNetworks = adNetworks
    self.apps = apps
    self.active = active
  }

  /// The key that signs for an ad network. Throws `not_found` for an unknown ad network, `failed_precondition` for one without an active
  /// key.
  func active(for adNetworkId: String) throws(RPCError) -> SigningIdentity {
    if let key = active[adNetworkId] { return key }
    guard adNetworks[adNetworkId] != nil else { throw .notFound("unknown ad network", field: "adNetworkId") }
    throw .failedPrecondition("no key of this ad network is active", reason: "KEY_UNAVAILABLE")
  }

  /// The keys of an app. Throws `invalid_argument` if the bundle id is missing, `not_found` for an unknown app.
  func app(_ bundleId: String?) throws(RPCError) -> (bundleId: String, keys: AppKeys) {
    guard let bundleId, !bundleId.isEmpty else { throw .invalidArgument(field: "bundleId", "is required") }
    guard let keys = apps[bundleId] else { throw .notFound("unknown app", field: "bundleId") }
    return (bundleId, keys)
  }

  /// The key that signs what an app passes to StoreKit: the key for offers, or else the key for the App Store Server API. Both are In-App
  /// Purchase keys, so Apple accepts either. If the key for offers has no issuer id, it gets that of the other key.
  func appRequestKey(_ bundleId: String?) throws(RPCError) -> (bundleId: String, key: AppKey) {
    let (bundleId, keys) = try app(bundleId)
    guard let key = keys.offers ?? keys.server else {
      throw .failedPrecondition("no In-App Purchase key is configured for this app", reason: "KEY_UNAVAILABLE")
    }
    return (bundleId, AppKey(identity: key.identity, issuerId: key.issuerId ?? keys.server?.issuerId, created: key.created))
  }

  /// A key as metrics show it.
  struct KeyState {
    let owner: String
    let keyId: String
    let state: DeploymentConfiguration.Key.State
    /// When the key was created, milliseconds since 1970; nil if that is not known.
    let created: Int64?

    /// The values of the labels `owner`, `key_id` and `state`.
    var labels: [String] { [owner, keyId, state.rawValue] }
  }

  /// All keys, for metrics.
  var states: [KeyState] {
    let impressions = adNetworks.flatMap { owner, keys in
      keys.map { KeyState(owner: owner, keyId: $0.id, state: $0.state, created: $0.created) }
    }
    let others = apps.flatMap { owner, keys in
      keys.all.map { KeyState(owner: owner, keyId: $0.key.keyId, state: .active, created: $0.key.created) }
    }
    return impressions + others
  }
}
