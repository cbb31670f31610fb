import AppStore
import AttributionProtocol
import AttributionQueue
import RedisClient
import ServiceRuntime

/// The images of messages that were uploaded through this service. Apple's list does not say which images a message has, but Apple shows a
/// message only if its images are approved. A hash in Redis for each app and environment, from a message to its images.
struct MessageImages: Sendable {
  private static let separator: Character = " "

  let redis: RedisClient

  private static func key(_ bundleId: String, _ server: AppStoreServer) -> RedisArgument {
    .string(Keys.own("recovery", "retention:images:\(server.rawValue):\(bundleId)", shardOf: bundleId))
  }

  /// Records a message's images before it is uploaded, unless they are recorded already. True if they were not.
  func begin(_ message: String, _ images: [String], _ bundleId: String, _ server: AppStoreServer) async throws(RPCError) -> Bool {
    guard !images.isEmpty else { return false }
    return try await send(["HSETNX", Self.key(bundleId, server), .string(message), .string(Self.text(images))]).integer == 1
  }

  /// Records the images of a message that Apple has accepted.
  func finish(_ message: String, _ images: [String], _ bundleId: String, _ server: AppStoreServer) async throws(RPCError) {
    guard !images.isEmpty else { return try await forget(message, bundleId, server) }
    _ = try await send(["HSET", Self.key(bundleId, server), .string(message), .string(Self.text(images))])
  }

  func forget(_ message: String, _ bundleId: String, _ server: AppStoreServer) async throws(RPCError) {
    _ = try await send(["HDEL", Self.key(bundleId, server), .string(message)])
  }

  /// Forgets a message unless another upload of it has recorded other images meanwhile.
  func forget(_ message: String, _ bundleId: String, _ server: AppStoreServer, ifStill images: [String]) async throws(RPCError) {
    let key = Self.key(bundleId, server)
    guard try await send(["HGET", key, .string(message)]).string == Self.text(images) else { return }
    try await forget(message, bundleId, server)
  }

  /// The images of each message that has some.
  func all(_ bundleId: String, _ server: AppStoreServer) async throws(RPCError) -> [String: [String]] {
    let words = try await send(["HGETALL", Self.key(bundleId, server)]).array ?? []
    var images: [String: [String]] = [:]
    for index in stride(from: 0, to: words.count - 1, by: 2) {
      guard let message = words[index].string, let text = words[index + 1].string else { continue }
      images[message] = text.split(separator: Self.separator).map(String.init)
    }
    return images
  }

  private static func text(_ images: [String]) -> String { images.joined(separator: String(separator)) }

  private func send(_ command: [RedisArgument]) async throws(RPCError) -> RedisReply {
    do throws(RedisError) { return try await redis.send(command) } catch { throw RPCError(error) }
  }
}
