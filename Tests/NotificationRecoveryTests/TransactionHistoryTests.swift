import AppStore
import Synchronization
import Testing
import WireJSON

@testable import notification_recovery

@Suite("The pages of a customer's transaction history")
struct TransactionHistoryTests {
  @Test("each page has its own timeout, and the server of the first page gets the further requests")
  func pages() async throws {
    let asked = Mutex<[(revision: String?, server: AppStoreServer?, deadline: ContinuousClock.Instant)]>([])
    let history = TransactionHistory(bundleId: "a", server: nil) { (query, server, deadline) async throws(AppStoreServerAPIError) in
      let place = asked.withLock { asked in
        asked.append((query.first { $0.0 == "revision" }?.1, server, deadline))
        return asked.count
      }
      // Each page takes some time.
      try? await Task.sleep(for: .milliseconds(20))
      return AppStoreCalls.Response(
        server: .sandbox,
        body: [
          "revision": .string("r\(place)"), "hasMore": .bool(place < 4), "signedTransactions": .array([.string("jws \(place)")]),
        ],
        decoded: [["transactionId": .string("\(min(place, 3))"), "signedDate": .integer(Int64(place))]])
    }
    let found = try await history.all(pageTimeout: .seconds(60))
    #expect(found.server == .sandbox)
    // The fourth page has a newer form of the third transaction.
    #expect(found.transactions.map(\.jws) == ["jws 1", "jws 2", "jws 4"])
    let calls = asked.withLock { $0 }
    #expect(calls.map(\.revision) == [nil, "r1", "r2", "r3"])
    #expect(calls.map(\.server) == [nil, .sandbox, .sandbox, .sandbox])
    for (earlier, later) in zip(calls, calls.dropFirst()) { #expect(later.deadline >= earlier.deadline + .milliseconds(20)) }
  }

  @Test("a transaction that cannot be used, names no app or has no id does not affect the others of the history")
  func problems() async throws {
    let pages: [(problems: [AppStoreCalls.Problem], decoded: [JSONObject])] = [
      (
        [
          AppStoreCalls.Problem(index: 0, kind: .transaction, reason: .badSignature, field: nil),
          AppStoreCalls.Problem(index: 2, kind: .transaction, reason: .appNotNamed, field: nil),
        ], [[:], ["transactionId": "1", "bundleId": "a"], ["transactionId": "2"]]
      ),
      // A page on which nothing can be used does not end the history.
      ([AppStoreCalls.Problem(index: 0, kind: .transaction, reason: .chainInvalid, field: nil)], [[:]]),
      ([], [["bundleId": "a"], ["transactionId": "3", "bundleId": "a"]]),
    ]
    let asked = Mutex(0)
    let history = TransactionHistory(bundleId: "a", server: .production) { (_, _, _) async throws(AppStoreServerAPIError) in
      let place = asked.withLock { asked in
        asked += 1
        return asked
      }
      let page = pages[place - 1]
      return AppStoreCalls.Response(
        server: .production,
        body: [
          "revision": .string("r\(place)"), "hasMore": .bool(place < pages.count),
          "signedTransactions": .array(page.decoded.indices.map { .string("jws \(place).\($0)") }),
        ],
        decoded: page.decoded, problems: page.problems)
    }
    let found = try await history.all(pageTimeout: .seconds(60))
    #expect(found.transactions.map(\.jws) == ["jws 1.1", "jws 1.2", "jws 3.1"])
    #expect(found.transactions.allSatisfy { $0.bundleId == "a" })
    #expect(found.problems.map(\.reason) == [.badSignature, .appNotNamed, .chainInvalid, .malformed])
    #expect(found.problems.map(\.isUsed) == [false, true, false, false])
    #expect(
      found.problems.last?.description
        == "the signed data in Apple's answer (transaction, number 1) cannot be verified: malformed (transactionId)")
  }

  @Test("a history whose next page cannot be requested is an error and not complete", arguments: [nil, "r1"] as [String?])
  func withoutRevision(_ second: String?) async {
    let asked = Mutex(0)
    let history = TransactionHistory(bundleId: "a", server: .production) { (_, _, _) async throws(AppStoreServerAPIError) in
      let place = asked.withLock { asked in
        asked += 1
        return asked
      }
      var body: JSONObject = ["hasMore": true, "signedTransactions": .array([.string("jws \(place)")])]
      body["revision"] = (place == 1 ? "r1" : second).map { .string($0) }
      return AppStoreCalls.Response(server: .production, body: body, decoded: [["transactionId": .string("\(place)"), "signedDate": 1]])
    }
    var failure: AppStoreServerAPIError?
    do throws(AppStoreServerAPIError) { _ = try await history.all(pageTimeout: .seconds(60)) } catch { failure = error }
    // The caller asks again later.
    #expect(failure?.classification == .server)
    #expect(asked.withLock { $0 } == 2)
  }
}
