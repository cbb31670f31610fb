import Synchronization

/// One of the two keys for the App Store Server API that an app may have while its key is being replaced.
public enum AppStoreServerKey: Sendable, Hashable {
  case first, other

  var counterpart: AppStoreServerKey { self == .first ? .other : .first }
}

/// The key of each app that Apple accepted last, which is tried first.
final class AcceptedKeys: Sendable {
  private struct Name: Hashable {
    let bundleId: String
    let server: AppStoreServer
  }

  private let keys = Mutex<[Name: AppStoreServerKey]>([:])

  func key(_ bundleId: String, _ server: AppStoreServer) -> AppStoreServerKey {
    keys.withLock { $0[Name(bundleId: bundleId, server: server)] ?? .first }
  }

  /// Records that Apple accepted a key after it had refused the other one.
  func accept(_ key: AppStoreServerKey, _ bundleId: String, _ server: AppStoreServer) {
    keys.withLock { $0[Name(bundleId: bundleId, server: server)] = key }
  }
}
