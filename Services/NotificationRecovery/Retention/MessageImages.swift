import AppStore
import AttributionProtocol
import AttributionQueue
import RedisClient
import ServiceRuntime

/// Stores the images of the retention messages that were uploaded through this service, in a Redis hash for each app and environment.
/// Apple's list of messages does not say which images a message has, but Apple shows a message only if its images are approved.
struct MessageImages: Sendable {
  private static let separator: Character = " "

  let redis: RedisClient

  private static func key(_ bundleId: String, _ server: AppStoreServer) -> RedisArgument {
    .string(Keys.own("recovery", "retention:images:\(server.rawValue):\(bundleId)", shardOf: bundleId))
  }

  /// Records the images of a message before the message is uploaded. Returns false, and changes nothing, if images of the message are
  /// recorded already, or if it has none.
  func begin(_ message: String, _ images: [String], _ bundleId: String, _ server: AppStoreServer) async throws(RPCError) -> Bool {
    guard !images.isEmpty else { return false }
    return try await send(["HSETNX", Self.key(bundleId, server), .string(message), .string(Self.text(images))]).integer == 1
  }

  /// Records the images of a message that Apple has accepted, in place of those that were recorded before.
  func finish(_ message: String, _ images: [String], _ bundleId: String, _ server: AppStoreServer) async throws(RPCError) {
    guard !images.isEmpty else { return try await forget(message, bundleId, server) }
    _ = try await send(["HSET", Self.key(bundleId, server), .string(message), .string(Self.text(images))])
  }

  /// Removes the record of a message.
  func forget(_ message: String, _ bundleId: String, _ server: AppStoreServer) async throws(RPCError) {
    _ = try await send(["HDEL", Self.key(bundleId, server), .string(message)])
  }

  /// Removes the record of a message, unless another upload of the message has recorded other images meanwhile.
  func forget(_ message: String, _ bundleId: String, _ server: AppStoreServer, ifStill images: [String]) async throws(RPCError) {
    let key = Self.key(bundleId, server)
    guard try await send(["HGET", key, .string(message)]).string == Self.text(images) else { return }
    try await forget(message, bundleId, server)
  }

  /// The recorded images, by message.
  func all(_ bundleId: String, _ server: AppStoreServer) async throws(RPCError) -> [String: [String]] {
    let pairs = try await send(["HGETALL", Self.key(bundleId, server)]).array ?? []
    var images: [String: [String]] = [:]
    for index in stride(from: 0, to: pairs.count - 1, by: 2) {
      guard let message = pairs[index].string, let text = pairs[index + 1].string else { continue }
      images[message] = text.split(separator: Self.separator).map(String.init)
    }
    return images
  }

  private static func text(_ images: [String]) -> String { images.joined(separator: String(separator)) }

  private func send(_ command: [RedisArgument]) async throws(RPCError) -> RedisReply {
    do throws(RedisError) { return try await redis.send(command) } catch { throw RPCError(error) }
  }
}
