import AttributionProtocol
import NIOCore
import Synchronization

/// Bytes of bodies, as they came and as they were inflated, of requests that are not answered yet, over all connections of a listener.
///
/// Bounds of one body, one connection and the number of connections together allow far more than a process has memory for.
final class BodyBudget: Sendable {
  private let most: Int
  private let refusals: MetricSeries?
  private let held = Atomic<Int>(0)

  /// - Parameter refusals: counts what there was no room for.
  init(most: Int, refusals: MetricSeries? = nil) {
    self.most = most
    self.refusals = refusals
  }

  var bytes: Int { held.load(ordering: .relaxed) }

  func take(_ count: Int) -> Bool {
    guard held.add(count, ordering: .relaxed).newValue <= most else {
      giveBack(count)
      refusals?.add()
      return false
    }
    return true
  }

  func giveBack(_ count: Int) { held.subtract(count, ordering: .relaxed) }
}

/// What one request takes up of its listener's ``BodyBudget``. It is given back when nobody holds this any more: when the request is
/// answered.
public final class BodyShare: Sendable {
  private let budget: BodyBudget
  private let taken = Atomic<Int>(0)

  init(_ budget: BodyBudget) { self.budget = budget }

  deinit { budget.giveBack(taken.load(ordering: .relaxed)) }

  /// Whether there was room for so many bytes more.
  func take(_ count: Int) -> Bool {
    guard budget.take(count) else { return false }
    taken.add(count, ordering: .relaxed)
    return true
  }

  /// Of what was taken, bytes that are not needed after all.
  func giveBack(_ count: Int) {
    taken.subtract(count, ordering: .relaxed)
    budget.giveBack(count)
  }
}

/// A body on its way.
struct HeldBody {
  /// What its bytes count on, until that is let go of.
  let share: BodyShare
  private var buffer: ByteBuffer?

  init(_ budget: BodyBudget) { share = BodyShare(budget) }

  var count: Int { buffer?.readableBytes ?? 0 }

  /// The bytes, once.
  mutating func take() -> [UInt8] {
    defer { buffer = nil }
    return buffer.map { Array($0.readableBytesView) } ?? []
  }

  /// Adds a part; says why that cannot be.
  mutating func add(_ part: ByteBuffer, limit: Int) -> BodyError? {
    guard count + part.readableBytes <= limit else { return .tooLarge }
    guard share.take(part.readableBytes) else { return .noRoom }
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
