import TestSupport
import Testing
import WireJSON

@testable import AppStore

private let day: Int64 = 86_400_000

private func step(
  _ type: String, _ subtype: String? = nil, at time: Int64, expires: Int64? = nil, transaction: String = "t1", purchase: Int64? = nil,
  from previous: String? = nil, renews: Bool? = nil
) -> LifecycleStep {
  LifecycleStep(
    notificationUUID: "\(type)-\(subtype ?? "")-\(time)", type: type, subtype: subtype, signedDate: time * day,
    transaction: .init(
      transactionId: transaction, productId: "pro", purchaseDate: purchase.map { $0 * day }, expiresDate: expires.map { $0 * day },
      previousOriginalTransactionId: previous), renewal: renews.map { .init(autoRenew: $0) })
}

/// Histories by id, which are linked as the steps name earlier ids.
private struct Lives {
  var histories: [String: SubscriptionHistory] = [:]

  mutating func take(_ id: String, _ step: LifecycleStep) -> SubscriptionHistory.Arrival {
    var history = self[id]
    if let previous = step.transaction?.previousOriginalTransactionId {
      var before = self[previous]
      if let inherited = before.recordContinuation(as: id, at: step.signedDate, bundleId: nil) { history.begin(with: inherited) }
      histories[previous] = before
    }
    let arrival = history.insert(step)
    histories[id] = history
    handOn(history)
    return arrival
  }

  mutating func handOn(_ history: SubscriptionHistory) {
    guard let next = history.continuation?.originalTransactionId, let inherited = history.inheritance(of: next) else { return }
    var following = self[next]
    following.begin(with: inherited)
    histories[next] = following
    handOn(following)
  }

  subscript(_ id: String) -> SubscriptionHistory {
    histories[id] ?? SubscriptionHistory(environment: "Production", originalTransactionId: id)
  }
}

@Suite("Migrated subscriptions") struct SubscriptionMigrationTests {
  private static let before = [
    step("SUBSCRIBED", "INITIAL_BUY", at: 0, expires: 30, purchase: 0),
    step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", at: 5, expires: 30, purchase: 0, renews: false),
  ]
  private static let migration = step("MIGRATION", at: 10, expires: 30, transaction: "t2", purchase: 0, from: "1")
  private static let end = step("EXPIRED", "VOLUNTARY", at: 30, expires: 30, transaction: "t2", purchase: 0, from: "1")

  @Test("the history under the new id begins with the former state, and earlier announcements remain valid")
  func begun() {
    var lives = Lives()
    for step in Self.before { _ = lives.take("1", step) }
    #expect(lives.take("2", Self.migration) == .inOrder)
    #expect(lives["2"].state?.status == .activeNotRenewing)
    #expect(lives["2"].state?.since == 5 * day)
    #expect(lives["2"].state?.transactionId == "t2")
    _ = lives.take("2", Self.end)
    #expect(lives["2"].gaps.isEmpty && lives["2"].state?.status == .expired)
    #expect(lives["2"].inheritance?.originalTransactionId == "1")
    #expect(lives["1"].continuation?.originalTransactionId == "2")
  }

  @Test("under the old id no silence is detected")
  func silent() {
    var lives = Lives()
    for step in Self.before { _ = lives.take("1", step) }
    #expect(lives["1"].silenceDue() == 31 * day)
    _ = lives.take("2", Self.migration)
    #expect(lives["1"].silenceDue() == nil && lives["1"].silence(at: 400 * day) == nil)
    #expect(lives["2"].silenceDue() == 31 * day)
  }

  @Test("both spellings of the type are equivalent, and a migration from an unknown history is no gap")
  func unknownBefore() {
    for type in ["MIGRATION", "MIGRATE"] {
      var lives = Lives()
      _ = lives.take("2", step(type, at: 10, expires: 30, transaction: "t2", from: "1", renews: false))
      #expect(lives["2"].gaps.isEmpty && lives["2"].state?.status == .activeNotRenewing, "\(type)")
      // The subscription was cancelled before the migration, which is no gap either.
      _ = lives.take("2", Self.end)
      #expect(lives["2"].gaps.isEmpty && lives["2"].state?.status == .expired, "\(type)")
    }
  }

  @Test("a new id without its migration is one gap, which names what is missing")
  func missedMigration() {
    var lives = Lives()
    for step in Self.before { _ = lives.take("1", step) }
    _ = lives.take("2", Self.end)
    #expect(lives["2"].gaps.map(\.rules) == [[.unexplainedStart]])
    #expect(lives["2"].gaps.first?.missing == "MIGRATION")
    #expect(lives["2"].gaps.first?.after == 5 * day)
    #expect(lives.take("2", Self.migration) == .late)
    #expect(lives["2"].gaps.isEmpty)
    #expect(lives["1"].continuation?.at == 10 * day, "since the earliest step that names it")
  }

  @Test("a late step under the old id is passed to the new one; steps after the migration are not part of its start")
  func late() {
    var lives = Lives()
    _ = lives.take("1", Self.before[0])
    _ = lives.take("2", Self.migration)
    _ = lives.take("2", Self.end)
    #expect(lives["2"].gaps.map(\.rules) == [[.entryRequired]])
    #expect(lives.take("1", Self.before[1]) == .late)
    #expect(lives["2"].gaps.isEmpty)
    _ = lives.take("1", step("EXPIRED", "VOLUNTARY", at: 12, expires: 30))
    #expect(lives["1"].state?.status == .expired)
    var fresh = lives["2"]
    fresh.begin(with: lives["1"].inheritance(of: "2")!)
    #expect(fresh.inheritance?.state?.status == .activeNotRenewing)
  }

  @Test("arrival order and repeats change nothing, over two migrations")
  func permutations() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SeededRandom(seed: seed)
    let all: [(String, LifecycleStep)] =
      Self.before.map { ("1", $0) } + [
        ("2", Self.migration),
        ("2", step("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", at: 11, transaction: "t2", from: "1", renews: true)),
        ("3", step("MIGRATION", at: 12, expires: 30, transaction: "t3", purchase: 0, from: "2")),
        ("3", step("DID_RENEW", at: 30, expires: 60, transaction: "t4", purchase: 30, from: "2")),
        ("3", step("REFUND", at: 31, expires: 60, transaction: "t4", purchase: 30, from: "2")),
      ]
    var first = Lives()
    for (id, step) in all { _ = first.take(id, step) }
    #expect(first["3"].state?.status == .revoked && first["3"].gaps.isEmpty)
    for _ in 0..<200 {
      var second = Lives()
      for (id, step) in (all + all).shuffled(using: &generator) { _ = second.take(id, step) }
      for id in ["1", "2", "3"] {
        #expect(first[id].steps == second[id].steps && first[id].state == second[id].state, "seed \(seed), \(id)")
        #expect(first[id].gaps == second[id].gaps && first[id].continuations == second[id].continuations, "seed \(seed), \(id)")
        #expect(SubscriptionHistory(stored: second[id].stored) == second[id], "seed \(seed), \(id)")
      }
    }
  }

  @Test("older states and those of other ids, of the same id and of other apps are not accepted")
  func refused() {
    var old = SubscriptionHistory(environment: "Production", originalTransactionId: "1")
    old.bundleId = "com.example.app"
    _ = old.insert(Self.before[0])
    #expect(old.recordContinuation(as: "1", at: 5, bundleId: nil) == nil)
    #expect(old.recordContinuation(as: "2", at: 5, bundleId: "com.example.other") == nil)
    #expect(old.continuations.isEmpty)
    let early = old.recordContinuation(as: "2", at: 10 * day, bundleId: "com.example.app")!
    _ = old.insert(Self.before[1])
    let later = old.inheritance(of: "2")!
    var new = SubscriptionHistory(environment: "Production", originalTransactionId: "2")
    new.begin(with: later)
    new.begin(with: early)
    #expect(new.inheritance == later)
    new.begin(with: SubscriptionInheritance(originalTransactionId: "9", at: 1, state: nil, steps: 99))
    #expect(new.inheritance == later)
    // A history cannot be linked in a circle.
    #expect(new.recordContinuation(as: "1", at: 20 * day, bundleId: nil) == nil)
  }

  @Test("a history that was stored before its migration is read, and a damaged link is refused")
  func stored() {
    var life = SubscriptionHistory(environment: "Production", originalTransactionId: "2")
    life.begin(with: SubscriptionInheritance(originalTransactionId: "1", at: 5, state: nil, steps: 0))
    #expect(SubscriptionHistory(stored: life.stored) == life)
    let plain = #"{"environment":"Production","originalTransactionId":"2","steps":[],"late":[],"settled":[],"compacted":0"#
    #expect(SubscriptionHistory(stored: Array((plain + "}").utf8))?.inheritance == nil)
    for joint in [
      #""inheritance":{}"#, #""inheritance":{"originalTransactionId":"1","at":5,"steps":1,"state":{}}"#, #""continuations":{"3":"x"}"#,
    ] {
      #expect(SubscriptionHistory(stored: Array("\(plain),\(joint)}".utf8)) == nil, "\(joint)")
    }
  }
}
