public import RedisClient

/// Reads the App Tracking Transparency status of an install. Ingest writes it; asa-token-broker reads it before it passes on what needs the
/// user's consent.
public struct InstallStatusReader: Sendable {
  private let redis: RedisClient

  public init(redis: RedisClient) { self.redis = redis }

  /// The key of an install's status. `installHash` is a hash of the app and the install, so that the key does not contain their ids.
  public static func key(ofInstall installHash: String) -> String {
    Keys.own("ingest", "install:\(installHash)", shardOf: installHash)
  }

  /// The stored text; nil if nothing is stored about the install.
  public func text(ofInstall installHash: String) async throws(RedisError) -> String? {
    let reply = try await redis.send(["GET", .string(Self.key(ofInstall: installHash))])
    guard let bytes = reply.bytes else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}
