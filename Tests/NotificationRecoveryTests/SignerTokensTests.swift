import AppStore
import AttributionProtocol
import Testing

@testable import notification_recovery

@Suite("Tokens from the signer")
struct SignerTokensTests {
  @Test("failures of signer are transient; configuration errors are permanent", arguments: RPCCode.allCases)
  func classification(code: RPCCode) {
    let passing: Set<RPCCode> = [
      .unavailable, .deadlineExceeded, .aborted, .canceled, .resourceExhausted, .internal, .unknown, .unauthenticated,
    ]
    #expect(SignerTokens.classification(code) == (passing.contains(code) ? .server : .configuration))
  }
}
