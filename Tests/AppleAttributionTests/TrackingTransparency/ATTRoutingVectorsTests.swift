import AppleAttribution
import Foundation
import Testing
import WireJSON

/// `Tests/Vectors/appstore/att-routing.json`: strategies with and without consent, and two waits.
struct ATTRoutingVector: Sendable, CustomTestStringConvertible {
  let object: JSONObject

  var id: String { object["id"]!.stringValue! }
  var testDescription: String { id }

  static let all: [ATTRoutingVector] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Vectors/appstore/att-routing.json")
    return try! JSONValue(parsing: [UInt8](try! Data(contentsOf: file))).arrayValue!.map {
      ATTRoutingVector(object: $0.objectValue!)
    }
  }()
  static let routes = all.filter { $0.object["timeline"] == nil }
  static let waits = all.filter { $0.object["timeline"] != nil }
}

@Suite("ATT routing vectors")
struct ATTRoutingVectorsTests {
  @Test("a session is sent to the host of its strategy, with the fields that its status allows", arguments: ATTRoutingVector.routes)
  func route(_ vector: ATTRoutingVector) throws {
    let status = try #require(ATTStatus(vector.object["attStatus"]!))
    let route = try ConsentRoutingTable.published.route(
      strategy: vector.object["urlStrategy"]!.stringValue!, consent: status.isConsent)
    let expect = vector.object["expect"]!.objectValue!
    #expect(route.hosts.first == expect["host"]?.stringValue)
    let filtered = ConsentFilter().filter(vector.object["session"]!.objectValue!, consent: status.isConsent)
    for name in ["idfa", "started_at"] { #expect(filtered.payload[name] ?? .null == expect[name], "\(name)") }
    #expect(filtered.payload["event"] == "session")
    #expect(filtered.removedNames == (status.isConsent ? [] : ["idfa", "started_at"]))
  }

  @Test(
    "a wait ends with the answer or at the deadline, in order, with the status known at that time",
    arguments: ATTRoutingVector.waits)
  func wait(_ vector: ATTRoutingVector) throws {
    let start: Int64 = 1_790_000_000_000
    let interval = vector.object["waitSeconds"]!.int64Value!
    var waiting = ATTStatusWait()
    var record: ATTStatusRecord?
    var held: [(event: String, status: ATTStatus, until: Int64)] = []
    var releasedAt: Int64?
    for step in vector.object["timeline"]!.arrayValue! {
      let now = start + step["t"]!.int64Value! * 1000
      let status = try #require((step["attStatus"] ?? step["statusUpdate"]).flatMap { ATTStatus($0) })
      record = ATTStatusRecord.applying(ATTStatusRecord(status: status, deviceTime: nil, receivedAt: now), to: record).0
      if let event = step["event"]?.stringValue {
        guard case .hold(let until) = waiting.receive(status: record!.status, intervalSeconds: interval, now: now)
        else {
          Issue.record("\(event) was not held")
          return
        }
        held.append((event, status, until))
      } else if waiting.learn(record!.status, now: now) {
        releasedAt = now
      }
    }
    if releasedAt == nil, case .holding(let until) = waiting.phase {
      #expect(waiting.tick(now: until - 1) == false)
      let isReleased = waiting.tick(now: until)
      #expect(isReleased)
      releasedAt = until
    }
    let expect = vector.object["expect"]!.objectValue!
    #expect(releasedAt == start + expect["releasedAt"]!.int64Value! * 1000)
    #expect(held.map { JSONValue.string($0.event) } == expect["order"]?.arrayValue)
    for item in held {
      let status = ConsentDecision.status(atReceipt: item.status, heldUntil: item.until, current: record)
      #expect(status.code == expect["allStatus"]?.int64Value)
      let route = try ConsentRoutingTable.published.route(strategy: "default", consent: status.isConsent)
      #expect(route.hosts.first == expect["host"]?.stringValue)
    }
  }

  @Test("the vector file is read completely")
  func count() { #expect(ATTRoutingVector.routes.count == 14 && ATTRoutingVector.waits.count == 2) }
}
