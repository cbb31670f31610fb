import AppleAttribution
import Foundation
import Testing
import WireJSON

/// `Tests/Vectors/appstore/adservices.json`: sequences of Apple's answers, and the expected outcome of the exchange.
struct AdServicesVector: Sendable, CustomTestStringConvertible {
  let id: String
  let responses: [AdServicesResponse]
  let expect: JSONObject

  var testDescription: String { id }

  static let all: [AdServicesVector] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Vectors/appstore/adservices.json")
    let bytes = [UInt8](try! Data(contentsOf: file))
    return try! JSONValue(parsing: bytes).arrayValue!.map { entry in
      AdServicesVector(
        id: entry["id"]!.stringValue!,
        responses: entry["responses"]!.arrayValue!.map { response in
          AdServicesResponse(
            status: Int(response["status"]!.int64Value!), body: response["body"].map(\.serialized) ?? [])
        },
        expect: entry["expect"]!.objectValue!)
    }
  }()
}

@Suite("AdServices vectors")
struct AdServicesVectorsTests {
  @Test("Apple's answers lead to the outcome of the vector with the same number of calls", arguments: AdServicesVector.all)
  func vector(_ vector: AdServicesVector) throws {
    let rule = AdServicesRetryRule()
    let createdAt: Int64 = 1_790_000_000_000
    var history = AdServicesRetryRule.History()
    var now = createdAt
    var calls: [Int64] = []
    var action = rule.start(createdAt: createdAt, now: now)
    while case .call(let at) = action {
      now = at
      let response = try #require(calls.count < vector.responses.count ? vector.responses[calls.count] : nil, "\(vector.id)")
      calls.append(at)
      // Apple delays a 404 by up to a second.
      now += 900
      action = rule.next(after: response, history: &history, createdAt: createdAt, now: now, chance: 0.5)
    }
    guard case .finish(let outcome, let record) = action else { return }
    let names: [AdServicesOutcome: String] = [
      .attributed: "attributed", .organic: "not-attributed", .test: "test", .notFound: "not-found",
      .invalidToken: "invalid-token", .expired: "expired",
    ]
    #expect(names[outcome] == vector.expect["outcome"]?.stringValue, "\(vector.id)")
    #expect(Int64(calls.count) == vector.expect["calls"]?.int64Value ?? vector.expect["fastCalls"]?.int64Value)
    if let gap = vector.expect["minGapMs"]?.int64Value {
      #expect(zip(calls, calls.dropFirst()).allSatisfy { $1 - $0 >= gap }, "\(vector.id)")
    }
    if let payload = vector.expect["payload"]?.stringValue {
      #expect(record?.detail.rawValue == payload, "\(vector.id)")
    }
    #expect(calls.first == createdAt + 5000)
  }

  @Test("the vector file is read completely")
  func count() { #expect(AdServicesVector.all.count == 7) }
}
