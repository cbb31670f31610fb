import AttributionProtocol
import HTTPClient
import Testing

@testable import attributionctl

@Suite("Doctor")
struct DoctorTests {
  private func response(_ status: Int, _ body: String) -> HTTPClientResponse {
    HTTPClientResponse(status: status, headers: [], body: Array(body.utf8), httpVersion: "1.1")
  }

  @Test("a service that is not ready is reported with its missing dependencies; another service at its address is recognised")
  func readiness() {
    let ready = SystemCheckup.readiness(.verifier, response(200, #"{"service":"verifier","draining":false,"checks":{"redis":"ok"}}"#))
    #expect(ready.state == .ok)
    let waiting = SystemCheckup.readiness(
      .verifier, response(503, #"{"service":"verifier","draining":false,"checks":{"redis":"unavailable","intake-worker":"ok"}}"#))
    #expect(waiting.state == .failed && waiting.found == "redis unavailable" && waiting.code == DoctorCode.serviceUnavailable)
    let ending = SystemCheckup.readiness(.verifier, response(503, #"{"service":"verifier","draining":true,"checks":{}}"#))
    #expect(ending.state == .warning)
    #expect(
      SystemCheckup.readiness(.verifier, response(200, #"{"service":"signer","checks":{}}"#)).found == "signer answers at this address")
    #expect(SystemCheckup.readiness(.verifier, response(404, "not found")).code == DoctorCode.serviceUnavailable)
  }

  @Test("equal findings of all services about Redis are shown once")
  func merging() {
    func report(_ service: ServiceName, _ state: String) -> SystemCheckup.ServiceReport {
      let finding = DoctorFinding(Finding(check: "redis-settings", state: state, subject: "appendonly", found: "f"), by: service)
      return SystemCheckup.ServiceReport(service: service, findings: [finding, DoctorFinding(service.rawValue, "ready", .ok, "yes")])
    }
    let merged = SystemCheckup.merged([report(.signer, "ok"), report(.verifier, "ok"), report(.ingest, "failed")])
    #expect(merged.map(\.place) == ["redis", "signer", "verifier", "ingest", "ingest"])
  }

  @Test("equal advice for several findings is shown once")
  func sameAdvice() {
    let findings = [ServiceName.signer, .verifier].map { SystemCheckup.refusal(RPCError(.unauthenticated, ""), by: $0) }
    let other = SystemCheckup.refusal(RPCError(.permissionDenied, ""), by: .ingest)
    let groups = DoctorCommand.grouped(findings + [other])
    #expect(groups.map(\.places) == ["signer, token; verifier, token", "ingest, token"])
  }

  @Test("a refused token, an older service and a failing service have different findings")
  func refusals() {
    #expect(SystemCheckup.refusal(RPCError(.unauthenticated, ""), by: .signer).code == DoctorCode.tokenRefused)
    #expect(SystemCheckup.refusal(RPCError(.permissionDenied, ""), by: .signer).advice?.contains("DiagnosticsService") == true)
    #expect(SystemCheckup.refusal(RPCError(.unimplemented, ""), by: .signer).state == .warning)
    #expect(SystemCheckup.refusal(RPCError(.internal, ""), by: .signer).code == DoctorCode.serviceUnavailable)
  }

  @Test("the difference of the clocks is described")
  func clock() {
    #expect(TestNotificationCheck.clock("600") == "the clock of notification-recovery is 600 s ahead of Apple's")
    #expect(TestNotificationCheck.clock("-45") == "the clock of notification-recovery is 45 s behind Apple's")
    #expect(TestNotificationCheck.clock(nil) == nil)
  }

  @Test("each result of Apple's delivery attempts has an exit code and advice")
  func attempts() {
    let codes: [String: Int32] = [
      "TLS_ISSUE": 20, "SSL_ISSUE": 20, "TIMED_OUT": 21, "NO_RESPONSE": 22, "SOCKET_ISSUE": 22, "CIRCULAR_REDIRECT": 23,
      "UNSUCCESSFUL_HTTP_RESPONSE_CODE": 24, "INVALID_RESPONSE": 25, "UNSUPPORTED_CHARSET": 25, "PREMATURE_CLOSE": 25, "OTHER": 26,
    ]
    for (result, code) in codes {
      let failure = TestNotificationCheck.failure(ofAttempt: result)
      #expect(failure.code == code && failure.advice?.isEmpty == false)
      #expect(DoctorCode.explanations.contains { $0.code == code })
    }
  }
}
