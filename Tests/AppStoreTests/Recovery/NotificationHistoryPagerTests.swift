import TestSupport
import Testing
import WireJSON

@testable import AppStore

@Suite("Paging Get Notification History")
struct NotificationHistoryPagerTests {
  static let cases: [JSONValue] = APIVectors.load("notification-history.json")

  @Test("every case of the vectors", arguments: cases)
  func vectors(_ value: JSONValue) throws {
    let id = value["id"]?.stringValue ?? "?"
    let expect = try #require(value["expect"]?.objectValue)
    if let request = value["request"] {
      let window = try TimeWindow(start: 1, end: 2)
      #expect(throws: RequestRefusal.self, "\(id)") {
        try NotificationHistoryRequest(
          window: window, notificationType: request["notificationType"]?.stringValue,
          notificationSubtype: request["notificationSubtype"]?.stringValue, transactionId: request["transactionId"]?.stringValue)
      }
      return
    }
    let window = try TimeWindow(
      start: try #require(value["window"]?["startDate"]?.int64Value), end: try #require(value["window"]?["endDate"]?.int64Value))
    if let clippedStart = expect["clippedStart"]?.int64Value {
      let server = try #require(value["environment"]?.stringValue.flatMap(AppStoreServer.init(rawValue:)))
      let (covered, uncovered) = window.clipped(to: server, now: try #require(value["now"]?.int64Value))
      #expect(covered?.start == clippedStart && covered?.end == window.end, "\(id)")
      #expect((uncovered != nil) == expect["uncovered"]?.boolValue, "\(id)")
      #expect(uncovered?.start == window.start && uncovered?.end == clippedStart, "\(id)")
      return
    }
    try walk(value, expect, window, id)
  }

  private func walk(_ value: JSONValue, _ expect: JSONObject, _ window: TimeWindow, _ id: String) throws {
    let pages = value["pages"]?.arrayValue ?? []
    let known = Set((value["known"]?.arrayValue ?? []).compactMap(\.stringValue))
    let request = try NotificationHistoryRequest(window: window)
    var pager = NotificationHistoryPager()
    var action = pager.next
    var tokens: [JSONValue] = []
    var bodies: Set<[UInt8]> = []
    var enqueued: [String] = []
    var duplicates: [String] = []
    while case .request(let token) = action {
      let page = try #require(tokens.count < pages.count ? pages[tokens.count] : nil, "\(id): a request too many")
      tokens.append(token.map { .string($0) } ?? .null)
      bodies.insert(request.body)
      for uuid in (page["uuids"]?.arrayValue ?? []).compactMap(\.stringValue) {
        if known.contains(uuid) { duplicates.append(uuid) } else { enqueued.append(uuid) }
      }
      action = pager.received(hasMore: page["hasMore"]?.boolValue ?? false, paginationToken: page["paginationToken"]?.stringValue)
    }
    #expect(action == .finished, "\(id)")
    if let requests = expect["requests"]?.int64Value { #expect(tokens.count == Int(requests), "\(id)") }
    if let expected = expect["queryTokens"]?.arrayValue { #expect(tokens == expected, "\(id)") }
    #expect(bodies.count == 1, "\(id): the body is the same on every page")
    #expect(enqueued == (expect["enqueued"]?.arrayValue ?? []).compactMap(\.stringValue), "\(id)")
    #expect(duplicates == (expect["duplicates"]?.arrayValue ?? []).compactMap(\.stringValue), "\(id)")
  }

  @Test("a pager with a stored token continues there")
  func resumes() {
    let pager = NotificationHistoryPager(paginationToken: "p7")
    #expect(pager.next == .request(paginationToken: "p7"))
  }

  @Test("the same token twice in a row is an error")
  func repeatedToken() {
    var pager = NotificationHistoryPager()
    #expect(pager.received(hasMore: true, paginationToken: "a") == .request(paginationToken: "a"))
    #expect(pager.received(hasMore: true, paginationToken: "a") == .failed(.repeatedToken))
  }

  @Test("a further page without a token is an error")
  func missingToken() {
    var pager = NotificationHistoryPager()
    #expect(pager.received(hasMore: true, paginationToken: nil) == .failed(.missingToken))
  }

  @Test("a token that Apple refuses restarts the time range", arguments: [Int64(4_000_014), 4_000_017, 4_000_012])
  func restarts(code: Int64) {
    var pager = NotificationHistoryPager(paginationToken: "old")
    #expect(pager.refused(errorCode: code) == .request(paginationToken: nil))
    #expect(pager.restarts == 1)
  }

  @Test("the number of restarts is limited")
  func givesUp() {
    var pager = NotificationHistoryPager()
    for _ in 1...NotificationHistoryPager.maxRestarts {
      _ = pager.received(hasMore: true, paginationToken: "t")
      #expect(pager.refused(errorCode: 4_000_017) == .request(paginationToken: nil))
    }
    _ = pager.received(hasMore: true, paginationToken: "t")
    #expect(pager.refused(errorCode: 4_000_017) == .failed(.tooManyRestarts))
  }

  @Test("the pager does not handle a refused first page or other refusals")
  func notItsBusiness() {
    var pager = NotificationHistoryPager()
    #expect(pager.refused(errorCode: 4_000_014) == nil)
    #expect(pager.refused(errorCode: 4_000_018) == nil)
  }

  @Test("any sequence of pages ends, and only tokens from Apple are requested")
  func property() {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededRandom(seed: seed)
    for _ in 0..<500 {
      var pager = NotificationHistoryPager()
      var action = pager.next
      var given: Set<String> = []
      var steps = 0
      loop: while steps < 10_000 {
        steps += 1
        switch action {
        case .finished, .failed: break loop
        case .request(let token):
          #expect(token == nil || given.contains(token ?? ""), "seed \(seed)")
          if random.next() % 5 == 0, let next = pager.refused(errorCode: 4_000_017) {
            action = next
            continue
          }
          let name = "t\(random.next() % 6)"
          let more = random.next() % 8 != 0
          if more { given.insert(name) }
          action = pager.received(hasMore: more, paginationToken: random.next() % 20 == 0 ? nil : name)
        }
      }
      #expect(steps < 10_000, "seed \(seed)")
    }
  }
}

@Suite("Windows and pages of the notification history")
struct HistoryWindowTests {
  static let day: Int64 = 86_400_000

  @Test("the retention is 180 days in production and 30 in the sandbox")
  func retention() throws {
    let now: Int64 = 1_789_000_000_000
    for (server, days) in [(AppStoreServer.production, Int64(180)), (.sandbox, 30)] {
      let inside = try TimeWindow(start: now - days * Self.day, end: now)
      #expect(inside.clipped(to: server, now: now).covered == inside)
      #expect(inside.clipped(to: server, now: now).uncovered == nil)
      let outside = try TimeWindow(start: now - (days + 2) * Self.day, end: now - (days + 1) * Self.day)
      #expect(outside.clipped(to: server, now: now).covered == nil)
      #expect(outside.clipped(to: server, now: now).uncovered == outside)
    }
  }

  @Test("covered and uncovered parts are the whole window, without overlap")
  func parts() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededRandom(seed: seed)
    let now: Int64 = 1_789_000_000_000
    for _ in 0..<1000 {
      let start = now - Int64(random.next() % UInt64(300 * Self.day))
      let window = try TimeWindow(start: start, end: start + 1 + Int64(random.next() % UInt64(100 * Self.day)))
      let (covered, uncovered) = window.clipped(to: .production, now: now)
      let parts = [uncovered, covered].compactMap { $0 }
      #expect(parts.first?.start == window.start && parts.last?.end == window.end, "seed \(seed)")
      if parts.count == 2 { #expect(parts[0].end == parts[1].start, "seed \(seed)") }
    }
  }

  @Test("an invalid time range is refused")
  func emptyWindow() {
    #expect(throws: RequestRefusal.self) { try TimeWindow(start: 5, end: 5) }
    #expect(throws: RequestRefusal.self) { try TimeWindow(start: 6, end: 5) }
    #expect(throws: RequestRefusal.self) { try TimeWindow(start: 0, end: 5) }
  }

  @Test("filters that exclude each other are refused before calling")
  func filters() throws {
    let window = try TimeWindow(start: 1, end: 2)
    #expect(throws: RequestRefusal.self) {
      try NotificationHistoryRequest(window: window, notificationType: "DID_RENEW", transactionId: "1")
    }
    #expect(throws: RequestRefusal.self) { try NotificationHistoryRequest(window: window, notificationSubtype: "BILLING_RECOVERY") }
    #expect(throws: RequestRefusal.self) { try NotificationHistoryRequest(window: window, transactionId: "") }
    #expect(throws: RequestRefusal.self) { try NotificationHistoryRequest(window: window, transactionId: "12x") }
    let body = try NotificationHistoryRequest(window: window, transactionId: "12", onlyFailures: true).body
    #expect(String(decoding: body, as: UTF8.self) == #"{"startDate":1,"endDate":2,"transactionId":"12","onlyFailures":true}"#)
  }

  @Test("a page counts every attempt, also unknown results and the obsolete form")
  func page() throws {
    let object = try #require(
      JSONValue(
        parsing: """
          {"notificationHistory":[{"signedPayload":"a","sendAttempts":[{"attemptDate":1,"sendAttemptResult":"TIMED_OUT"},
          {"attemptDate":2,"sendAttemptResult":"NEW_RESULT"}]},{"signedPayload":"b","firstSendAttemptResult":"SUCCESS"},
          {"signedPayload":""},{}],"hasMore":true,"paginationToken":"p"}
          """
      ).objectValue)
    let page = try #require(NotificationHistoryPage(object))
    #expect(page.items.map(\.signedPayload) == ["a", "b"])
    typealias Attempt = NotificationHistoryPage.SendAttempt
    #expect(page.items[0].sendAttempts == [Attempt(result: "TIMED_OUT", date: 1), Attempt(result: "NEW_RESULT", date: 2)])
    #expect(page.items[1].sendAttempts == [Attempt(result: "SUCCESS", date: nil)])
    #expect(page.items.map(\.isUndelivered) == [true, false])
    #expect(!NotificationHistoryPage.Item(signedPayload: "c", sendAttempts: []).isUndelivered)
    #expect(page.unusable == 2 && page.hasMore && page.paginationToken == "p")
  }

  @Test("an empty answer is an empty last page; an answer of another type is invalid")
  func emptyPage() {
    #expect(NotificationHistoryPage([:])?.hasMore == false)
    #expect(NotificationHistoryPage(["notificationHistory": "x"]) == nil)
  }
}
