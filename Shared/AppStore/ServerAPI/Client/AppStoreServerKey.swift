import Synchronization

/// One of the two keys for the App Store Server API that an app has while one replaces the other. Otherwise an app has only the first.
public enum AppStoreServerKey: Sendable, Hashable {
  case first, other

  /// The other one of the two keys.
  var counterpart: AppStoreServerKey { self == .first ? .other : .first }
}

/// Remembers for each app and server which key Apple accepted last. ``AppStoreServerAPIClient`` tries this key first.
final class AcceptedKeys: Sendable {
  private struct Name: Hashable {
    let bundleId: String
    let server: AppStoreServer
  }

  private let keys = Mutex<[Name: AppStoreServerKey]>([:])

  /// The key to try first.
  func key(_ bundleId: String, _ server: AppStoreServer) -> AppStoreServerKey {
    keys.withLock { $0[Name(bundleId: bundleId, server: server)] ?? .first }
  }

  /// Records that Apple accepted a key after it had refused the other one.
  func accept(_ key: AppStoreServerKey, _ bundleId: String, _ server: AppStoreServer) {
    keys.withLock { $0[Name(bundleId: bundleId, server: server)] = key }
  }
}
