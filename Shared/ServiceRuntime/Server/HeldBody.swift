import AttributionProtocol
import NIOCore
import Synchronization

/// Bytes of bodies that a listener has read of requests which are not answered yet, over all its connections.
///
/// Bounds of one body, one connection and the number of connections together allow far more than a process has memory for.
final class BodyBudget: Sendable {
  private let most: Int
  private let held = Atomic<Int>(0)

  init(most: Int) { self.most = most }

  var bytes: Int { held.load(ordering: .relaxed) }

  func take(_ count: Int) -> Bool {
    guard held.add(count, ordering: .relaxed).newValue <= most else {
      giveBack(count)
      return false
    }
    return true
  }

  func giveBack(_ count: Int) { held.subtract(count, ordering: .relaxed) }
}

/// A body on its way; its bytes are given back when it is let go of: when its request is answered.
final class HeldBody {
  private let budget: BodyBudget
  private var buffer: ByteBuffer?
  private var charged = 0

  init(_ budget: BodyBudget) { self.budget = budget }

  deinit { budget.giveBack(charged) }

  var count: Int { buffer?.readableBytes ?? 0 }

  /// The bytes, once; they count until the body is let go of.
  func take() -> [UInt8] {
    defer { buffer = nil }
    return buffer.map { Array($0.readableBytesView) } ?? []
  }

  /// Adds a part; says why that cannot be.
  func add(_ part: ByteBuffer, limit: Int) -> BodyError? {
    guard count + part.readableBytes <= limit else { return .tooLarge }
    guard budget.take(part.readableBytes) else { return .noRoom }
    charged += part.readableBytes
    if buffer == nil { buffer = part } else { buffer!.writeImmutableBuffer(part) }
    return nil
  }
}

extension RPCError {
  /// For ``BodyError/noRoom``.
  static var noRoomForBodies: RPCError {
    RPCError(.unavailable, "as many bytes as may be are being read", reason: "OVERLOADED", retryDelay: .seconds(1))
  }
}
