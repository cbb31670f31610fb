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
    let history = TransactionHistory(server: nil) { (query, server, deadline) async throws(AppStoreCallFailure) in
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

  @Test("a history whose next page cannot be requested is an error and not complete", arguments: [nil, "r1"] as [String?])
  func withoutRevision(_ second: String?) async {
    let asked = Mutex(0)
    let history = TransactionHistory(server: .production) { (_, _, _) async throws(AppStoreCallFailure) in
      let place = asked.withLock { asked in
        asked += 1
        return asked
      }
      var body: JSONObject = ["hasMore": true, "signedTransactions": .array([.string("jws \(place)")])]
      body["revision"] = (place == 1 ? "r1" : second).map { .string($0) }
      return AppStoreCalls.Response(server: .production, body: body, decoded: [["transactionId": .string("\(place)"), "signedDate": 1]])
    }
    var failure: AppStoreServerAPIError?
    do throws(AppStoreCallFailure) { _ = try await history.all(pageTimeout: .seconds(60)) } catch {
      if case .apple(let error) = error { failure = error }
    }
    // The caller asks again later.
    #expect(failure?.classification == .server)
    #expect(asked.withLock { $0 } == 2)
  }
}
