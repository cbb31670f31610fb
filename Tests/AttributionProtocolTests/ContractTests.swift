import AttributionProtocol
import Foundation
import Testing
import WireJSON

@Suite struct ContractTests {
  static let methods: [any RPCMethod.Type] =
    SignerService.methods + VerifierService.methods + EventsService.methods + QueuesService.methods
    + IngestService.methods + NotificationRecoveryService.methods + TokenBrokerService.methods

  @Test func `Every method of the OpenAPI document is the generated one, and the other way round`() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Shared/AttributionProtocol/Contract/openapi.json")
    let document = try JSONValue(
      parsing: Array(try Data(contentsOf: file)), limits: JSONLimits(depth: 64, values: 1_000_000))
    let paths = try #require(document["paths"]?.objectValue)
    var byPath: [String: any RPCMethod.Type] = [:]
    for method in Self.methods { byPath[method.path] = method }
    #expect(byPath.count == Self.methods.count)
    #expect(Set(paths.members.map(\.key)) == Set(byPath.keys))
    for member in paths.members {
      guard let method = byPath[member.key] else { continue }
      let post = try #require(member.value["post"], "\(member.key)")
      #expect(post["operationId"]?.stringValue == method.name)
      let word: String
      var getAllowed = false
      switch method.idempotency {
      case .read(let get):
        word = "read"
        getAllowed = get
      case .natural: word = "natural"
      case .keyed: word = "keyed"
      }
      #expect(post["x-idempotency"]?.stringValue == word, "\(member.key)")
      #expect((member.value["get"] != nil) == getAllowed, "\(member.key)")
      func limit(_ name: String) -> Duration? { post[name]?.int64Value.map { .milliseconds($0) } }
      #expect(limit("x-default-timeout-ms") == method.timeLimit.default, "\(member.key)")
      #expect(limit("x-max-timeout-ms") == method.timeLimit.maximum, "\(member.key)")
      #expect(post["x-batch"]?.boolValue == method.isBatch, "\(member.key)")
      #expect(method.timeLimit.default <= method.timeLimit.maximum)
    }
  }

  @Test func `The empty message of every method is {} or reads back as it was written`() throws {
    func check<M: RPCMessage>(_ type: M.Type) throws {
      let written = M().json
      #expect(try M(json: written).json == written, "\(type)")
      #expect(throws: JSONError.self, "\(type)") { _ = try M(json: Array("{\"noSuchField\":1}".utf8)) }
      for bad in ["", "[]", "null", "{} {}", "{"] {
        #expect(throws: JSONError.self, "\(type)") { _ = try M(json: Array(bad.utf8)) }
      }
    }
    func both<M: RPCMethod>(_ method: M.Type) throws {
      try check(M.Request.self)
      try check(M.Response.self)
    }
    for method in Self.methods { try both(method) }
  }
}
