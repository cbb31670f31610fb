import AttributionProtocol
import Testing
import WireJSON

@Suite struct EmptyMessageTests {
  static let methods: [any RPCMethod.Type] =
    SignerService.methods + VerifierService.methods + EventsService.methods + QueuesService.methods
    + IngestService.methods + NotificationRecoveryService.methods + TokenBrokerService.methods

  @Test func `The empty message of every method can be written and read back`() throws {
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
