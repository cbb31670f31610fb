import Foundation
import TestSupport
import Testing

@testable import AppStore

private let hour: Int64 = 3_600_000
private let day: Int64 = 24 * hour

/// A subscription as Apple keeps it, and the notifications about it, each with Apple's status after its event.
private struct Life {
  enum Phase: Int64 { case active = 1, expired, retry, grace, revoked }

  var generator: SeededRandom
  var now: Int64 = 0
  var phase = Phase.active
  var renews = true
  var purchases: [(id: String, start: Int64, end: Int64)] = []
  var graceEnd: Int64?
  var refunded: Set<String> = []
  var familyRevoked: Set<String> = []
  var steps: [LifecycleStep] = []

  init(seed: UInt64, length: Int) {
    generator = SeededRandom(seed: seed)
    buy(at: 0)
    tell("SUBSCRIBED", "INITIAL_BUY")
    while steps.count < length { advance() }
  }

  private mutating func buy(at start: Int64) {
    purchases.append(("t\(purchases.count)", start, start + 30 * day))
    (phase, renews, graceEnd) = (.active, true, nil)
  }

  /// Adds a notification about a purchase, by default the newest one.
  private mutating func tell(_ type: String, _ subtype: String? = nil, about purchase: Int? = nil) {
    let (id, start, end) = purchases[purchase ?? purchases.count - 1]
    steps.append(
      LifecycleStep(
        notificationUUID: "u\(steps.count)", type: type, subtype: subtype, signedDate: now, appleStatus: phase.rawValue,
        transaction: .init(
          transactionId: id, productId: "pro", purchaseDate: start, expiresDate: end,
          revocationDate: refunded.union(familyRevoked).contains(id) ? now : nil),
        renewal: .init(autoRenew: renews, gracePeriodExpiresDate: graceEnd, renewalDate: purchases[purchases.count - 1].end)))
  }

  private mutating func oneOf(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

  /// Refunds a purchase. Only the refund of the newest one, while it is paid, ends the subscription.
  private mutating func refund(_ index: Int) {
    guard !familyRevoked.contains(purchases[index].id), refunded.insert(purchases[index].id).inserted else { return }
    if index == purchases.count - 1, phase == .active || phase == .expired { phase = .revoked }
    tell("REFUND", about: index)
  }

  /// The next event. Some time passes before each, but no end of a period.
  private mutating func advance() {
    let (newest, end) = (purchases.count - 1, purchases[purchases.count - 1].end)
    let time = now + Int64.random(in: 1...9 * 24, using: &generator) * hour
    switch phase {
    case .active where time >= end:
      now = max(now, end) + Int64(oneOf(2)) * 1000
      switch renews ? oneOf(3) : 3 {
      case 0:
        buy(at: end)
        tell("DID_RENEW")
      case 1:
        phase = .retry
        tell("DID_FAIL_TO_RENEW")
      case 2:
        (phase, graceEnd) = (.grace, end + 16 * day)
        tell("DID_FAIL_TO_RENEW", "GRACE_PERIOD")
      default:
        phase = .expired
        tell("EXPIRED", "VOLUNTARY")
      }
    case .active:
      now = time
      switch oneOf(9) {
      case 0, 1:
        renews.toggle()
        tell("DID_CHANGE_RENEWAL_STATUS", renews ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED")
      case 2:
        buy(at: now)
        tell("DID_CHANGE_RENEWAL_PREF", "UPGRADE")
      case 3:
        purchases[newest].end += 10 * day
        tell("RENEWAL_EXTENDED")
      case 4: refund(oneOf(purchases.count))
      case 5:
        phase = .revoked
        familyRevoked.insert(purchases[newest].id)
        tell("REVOKE")
      case 6: tell("PRICE_INCREASE", "ACCEPTED")
      case 7: tell("CONSUMPTION_REQUEST", about: oneOf(purchases.count))
      default: tell("REFUND_DECLINED", about: oneOf(purchases.count))
      }
    case .grace, .retry:
      let isOver = phase == .grace && time >= end + 16 * day
      now = isOver ? end + 16 * day : time
      switch oneOf(isOver ? 2 : 4) {
      case 0:
        buy(at: phase == .grace ? end : now)
        tell("DID_RENEW", "BILLING_RECOVERY")
      case 1 where phase == .grace:
        (phase, graceEnd) = (.retry, nil)
        tell("GRACE_PERIOD_EXPIRED")
      case 1:
        (phase, renews) = (.expired, false)
        tell("EXPIRED", "BILLING_RETRY")
      case 2: refund(oneOf(purchases.count))
      default: tell("CONSUMPTION_REQUEST", about: oneOf(purchases.count))
      }
    case .expired, .revoked:
      now = time
      switch oneOf(4) {
      case 0:
        buy(at: now)
        tell("SUBSCRIBED", "RESUBSCRIBE")
      case 1: refund(oneOf(newest + 1))
      case 2 where phase == .revoked && !familyRevoked.contains(purchases[newest].id):
        refunded.remove(purchases[newest].id)
        phase = now < end ? .active : .expired
        tell("REFUND_REVERSED")
      default: tell("CONSUMPTION_REQUEST", about: oneOf(purchases.count))
      }
    }
  }
}

private func history(_ steps: [LifecycleStep]) -> SubscriptionHistory {
  var history = SubscriptionHistory(environment: "Production", originalTransactionId: "1")
  for step in steps { _ = history.insert(step) }
  return history
}

@Suite("Lives of subscriptions") struct CompleteLivesTests {
  private static let seeds = {
    let first = UInt64.random(in: 0...UInt64.max)
    return (0..<(ProcessInfo.processInfo.environment["ATTRIBUTION_SOAK"] == nil ? 300 : 20_000)).map { first &+ UInt64($0) }
  }()

  @Test("a life of which every notification arrives, in any order, has no gap, and each state is Apple's")
  func complete() {
    for seed in Self.seeds {
      var life = Life(seed: seed, length: 30)
      let known = history(life.steps.shuffled(using: &life.generator))
      #expect(known.gaps.map(\.shownBy) == [], "seed \(seed)")
      for (step, status) in zip(known.steps, known.statuses) {
        let apple = step.appleStatus.flatMap { SubscriptionStatus(appleStatus: $0, autoRenew: nil) }
        let isSame = apple == status || (apple == .active && status == .activeNotRenewing) || (apple == .expired && status == .revoked)
        #expect(isSame, "seed \(seed), \(step.notificationUUID)")
      }
    }
  }

  @Test("if notifications are lost, each state is Apple's nevertheless, and no access is denied against it in silence")
  func incomplete() {
    for seed in Self.seeds {
      var life = Life(seed: seed, length: 20)
      let arrived = life.steps.filter { _ in Int.random(in: 0...2, using: &life.generator) > 0 }
      for count in arrived.indices.map({ $0 + 1 }) {
        let known = history(Array(arrived.prefix(count)))
        guard let last = known.steps.last, let state = known.state, let number = last.appleStatus else { continue }
        #expect(state.hasAccess(at: last.signedDate) != false || ![1, 4].contains(number), "seed \(seed), \(last.notificationUUID)")
        #expect(state.hasAccess(at: last.signedDate) != true || ![2, 3, 5].contains(number), "seed \(seed), \(last.notificationUUID)")
      }
    }
  }
}
