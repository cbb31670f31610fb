import AttributionClient
import AttributionProtocol
import AttributionQueue
import RedisClient

/// The handler of `Diagnose`, which every service has. Its findings are about Redis, the listeners' certificates, signer and external
/// servers. `attributionctl doctor` calls it in all services.
struct DiagnoseHandler: RPCHandler {
  typealias Method = DiagnosticsService.Diagnose

  let service: ServiceName
  let redis: RedisClient?
  let durability: Durability
  let certificates: [CertificateDiagnosis]
  let upstreams: [Upstream]
  /// The client for signer; nil if the service does not call it.
  let signer: RPCClient?
  /// When the service started, milliseconds since 1970.
  let startedAt: Int64

  func handle(_ request: DiagnoseRequest, _ context: RPCContext) async throws(RPCError) -> DiagnoseResponse {
    var findings: [Finding] = []
    if let redis {
      let store = StoreDiagnosis(redis: redis, durability: durability, now: WallClock.now)
      findings += await store.findings().map {
        Finding(check: $0.check, state: $0.state.rawValue, subject: $0.subject, found: $0.found, advice: $0.advice)
      }
    }
    for certificate in certificates { findings += certificate.findings(now: WallClock.now() / 1000) }
    if request.localOnly != true {
      if let signer { findings.append(await Self.finding(signer)) }
      findings += await withTaskGroup(of: (Int, [Finding]).self) { group in
        for (index, upstream) in upstreams.enumerated() { group.addTask { (index, await upstream.findings()) } }
        var results: [(Int, [Finding])] = []
        for await result in group { results.append(result) }
        return results.sorted { $0.0 < $1.0 }.flatMap(\.1)
      }
    }
    return DiagnoseResponse(
      service: service.rawValue, version: BuildInformation.version, commit: BuildInformation.commit,
      now: Timestamp(millisecondsSince1970: WallClock.now()), startedAt: Timestamp(millisecondsSince1970: startedAt), findings: findings)
  }

  private static func finding(_ signer: RPCClient) async -> Finding {
    do throws(SignerUnavailable) { try await SignerUnavailable.check(signer) } catch {
      return Finding(
        check: "signer", state: "failed", found: error.reason,
        advice: "Check that signer is running, that ATTRIBUTION_SIGNER_URL of this service is its URL, and that its certificate is trusted."
      )
    }
    return Finding(check: "signer", state: "ok", found: "answers")
  }
}
