import AttributionClient
import AttributionProtocol
import HTTPClient
import ServiceRuntime
import WireJSON

/// Checks every service and what it depends on, then the public port, the queues, the feed and the signing keys.
struct SystemCheckup: Sendable {
  /// An intake message that has waited for more seconds is reported.
  private static let maxMessageAge = 60.0
  /// A subscription whose oldest unacknowledged event is older, in seconds, is reported.
  private static let maxEventAge = 3600.0
  /// A service whose clock differs by more milliseconds from this machine's is reported.
  private static let maxClockDifference: Int64 = 2000

  let connection: Connection
  /// True if each service checks only itself and Redis, and calls neither Apple nor another service.
  let localOnly: Bool

  func findings() async -> [DoctorFinding] {
    let reports = await withTaskGroup(of: (Int, ServiceReport).self) { group in
      for (index, service) in ServiceName.allCases.enumerated() { group.addTask { (index, await report(on: service)) } }
      return await group.reduce(into: [(Int, ServiceReport)]()) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
    var findings = Self.merged(reports)
    findings.append(await publicPort())
    let versions = Set(reports.compactMap(\.version))
    if versions.count > 1 {
      findings.append(
        DoctorFinding(
          "services", "versions", .warning, "differ: \(versions.sorted().joined(separator: ", "))",
          advice: "This is expected during an upgrade. Afterwards all instances should run the same build."))
    }
    if reports.contains(where: { $0.service == .verifier && $0.answers }) {
      findings += await queues()
      findings += await subscriptions()
    }
    if reports.contains(where: { $0.service == .signer && $0.answers }) { findings += await keys() }
    return findings
  }

  /// The findings about one service.
  struct ServiceReport: Sendable {
    let service: ServiceName
    var findings: [DoctorFinding] = []
    var version: String?
    /// True if the service has answered `Diagnose`, so that it is running and accepts the token. Only then are other methods called.
    var answers = false
  }

  /// Merges the findings about Redis, which all services share. Of findings with the same check and state only the first one remains.
  static func merged(_ reports: [ServiceReport]) -> [DoctorFinding] {
    var seen: Set<String> = []
    return reports.flatMap(\.findings).compactMap { finding in
      guard finding.check.hasPrefix("redis") || finding.check == "clock: redis" else { return finding }
      guard seen.insert("\(finding.check) \(finding.state.rawValue)").inserted else { return nil }
      return finding.state == .ok ? finding.at("redis") : finding
    }
  }

  /// Queries the readiness of a service and, if it answers, its diagnosis.
  private func report(on service: ServiceName) async -> ServiceReport {
    var report = ServiceReport(service: service)
    let url = connection.layer.url(of: .service(service))
    let ready: HTTPClientResponse
    do throws(HTTPClientError) {
      ready = try await connection.http.send(HTTPClientRequest(method: "GET", url: url + "/readyz", timeout: .seconds(5)))
    } catch {
      report.findings.append(
        DoctorFinding(
          service.rawValue, "ready", .failed, "does not answer at \(url): \(error)",
          advice: "Check that it is running; if it is not, its log says why. Set its address with --url \(service.rawValue)=URL.",
          code: DoctorCode.serviceUnavailable))
      return report
    }
    report.findings.append(Self.readiness(service, ready))
    await diagnose(&report)
    return report
  }

  /// The finding for the answer of `/readyz`.
  static func readiness(_ service: ServiceName, _ response: HTTPClientResponse) -> DoctorFinding {
    guard let body = try? JSONValue(parsing: response.body), let checks = body["checks"]?.objectValue else {
      return DoctorFinding(
        service.rawValue, "ready", .failed, "another program answers at this address (HTTP \(response.status))",
        advice: "Check the address, and that the load balancer has a healthy instance.", code: DoctorCode.serviceUnavailable)
    }
    if let name = body["service"]?.stringValue, name != service.rawValue {
      return DoctorFinding(
        service.rawValue, "ready", .failed, "\(name) answers at this address",
        advice: "Set the address with --url \(service.rawValue)=URL.",
        code: DoctorCode.serviceUnavailable)
    }
    guard response.status != 200 else { return DoctorFinding(service.rawValue, "ready", .ok, "yes") }
    if body["draining"]?.boolValue == true {
      return DoctorFinding(
        service.rawValue, "ready", .warning, "it is shutting down",
        advice: "Check that another instance runs, or wait until it has restarted.")
    }
    let faults = checks.members.filter { $0.value.stringValue != "ok" }.map { "\($0.key) \($0.value.stringValue ?? "")" }
    return DoctorFinding(
      service.rawValue, "ready", .failed, faults.isEmpty ? "is not ready yet" : faults.joined(separator: ", "),
      advice: "It waits for the dependencies that are listed; see its log.", code: DoctorCode.serviceUnavailable)
  }

  /// Adds the service's own findings and the difference of its clock.
  private func diagnose(_ report: inout ServiceReport) async {
    let service = report.service
    guard let client = connection.client.diagnostics(of: service) else { return }
    let before = WallClock.now()
    let response: DiagnoseResponse
    do throws(RPCError) {
      response = try await client.diagnose(DiagnoseRequest(localOnly: localOnly ? true : nil))
    } catch {
      report.findings.append(Self.refusal(error, by: service))
      return
    }
    let after = WallClock.now()
    report.answers = true
    report.version = "\(response.version) (\(response.commit))"
    report.findings.append(
      DoctorFinding(
        service.rawValue, "version", .ok, "\(response.version), commit \(response.commit), since \(response.startedAt?.text ?? "")"))
    if let now = response.now?.millisecondsSince1970 {
      // The service read its clock between `before` and `after`, so that a time between them shows no difference.
      let difference = now < before ? now - before : now > after ? now - after : 0
      let isTooLarge = abs(difference) > Self.maxClockDifference
      report.findings.append(
        DoctorFinding(
          service.rawValue, "clock", isTooLarge ? .warning : .ok,
          difference == 0 ? "matches this machine's clock" : "differs from this machine's clock by \(difference) ms",
          advice: isTooLarge ? "Synchronise the clocks of both machines (chrony or another NTP client)." : nil))
    }
    report.findings += response.findings.map { DoctorFinding($0, by: service) }
  }

  /// The finding for a failed `Diagnose`.
  static func refusal(_ error: RPCError, by service: ServiceName) -> DoctorFinding {
    switch error.code {
    case .unauthenticated:
      DoctorFinding(
        service.rawValue, "token", .failed, "is unknown to the service: \(error.message)",
        advice:
          "Check the token (--token-file, ATTRIBUTIONCTL_TOKEN_FILE or profile). Its SHA-256 must be in `clients` of the configuration.",
        code: DoctorCode.tokenRefused)
    case .permissionDenied:
      DoctorFinding(
        service.rawValue, "token", .failed, "is not allowed to run diagnostics",
        advice: "Add attribution.diagnostics.v1.DiagnosticsService/* to `allow` of this client.", code: DoctorCode.tokenRefused)
    case .unimplemented:
      DoctorFinding(service.rawValue, "version", .warning, "is older than attributionctl and cannot run diagnostics", advice: "Upgrade it.")
    default:
      DoctorFinding(
        service.rawValue, "diagnosis", .failed, "\(error)", advice: "See the service's log.", code: DoctorCode.serviceUnavailable)
    }
  }

  private func publicPort() async -> DoctorFinding {
    let url = connection.layer.url(of: .publicPort)
    do throws(HTTPClientError) {
      // Ingest refuses this body, which is not a postback; the check is whether the refusal comes from ingest.
      let response = try await connection.http.send(
        HTTPClientRequest(
          method: "POST", url: url + "/v1/postbacks", headers: [("Content-Type", "application/json")], body: Array("{}".utf8)))
      guard response.status == 400 else {
        return DoctorFinding(
          "ingest", "public port", .warning, "answers HTTP \(response.status) to an invalid postback; ingest would answer 400",
          advice: "Check whether a proxy or load balancer in front of ingest answers instead.")
      }
      return DoctorFinding("ingest", "public port", .ok, "answers at \(url)")
    } catch {
      return DoctorFinding(
        "ingest", "public port", .failed, "does not answer at \(url): \(error)",
        advice: "If devices and the App Store use this URL, they get no answer either. Set the URL with --url public=URL.",
        code: DoctorCode.serviceUnavailable)
    }
  }

  private func queues() async -> [DoctorFinding] {
    let response: ListQueuesResponse
    do throws(RPCError) { response = try await connection.queues.listQueues(ListQueuesRequest()) } catch {
      return [Self.failedCall("queues", error)]
    }
    return response.queues.map { queue in
      let name = "queue \(queue.name)"
      if queue.paused == true {
        return DoctorFinding(
          "queues", name, .warning, "is paused with \(queue.depth ?? 0) ready messages",
          advice: "Run attributionctl queues resume \(queue.name).")
      }
      if let dead = queue.dead, dead > 0 {
        return DoctorFinding(
          "queues", name, .warning, TerminalText.count(dead, "dead letter"),
          advice: "Run attributionctl dead-letters list --queue \(queue.name).")
      }
      if queue.name == "intake", let age = queue.oldestAgeSeconds, age > Self.maxMessageAge {
        return DoctorFinding(
          "queues", name, .warning, "the oldest of \(queue.depth ?? 0) messages has waited for \(TerminalText.age(age))",
          advice: "Check that verifier is ready; its log and metrics show what delays it. More instances process more messages.")
      }
      return DoctorFinding("queues", name, .ok, "\(queue.depth ?? 0) ready, \(queue.delayed ?? 0) delayed")
    }
  }

  private func subscriptions() async -> [DoctorFinding] {
    let response: ListSubscriptionsResponse
    do throws(RPCError) { response = try await connection.client.events.listSubscriptions() } catch {
      return [Self.failedCall("feed", error)]
    }
    var findings: [DoctorFinding] = []
    for one in response.subscriptions {
      let name = "subscription \(one.name)"
      if let status = one.endpointStatus, status.state != "enabled" {
        findings.append(
          DoctorFinding(
            "feed", name, .failed, "its endpoint is \(status.state): \(status.lastError ?? status.reason ?? "")",
            advice: "Repair the endpoint, then run attributionctl subscriptions enable \(one.name)."))
      } else if let since = one.endpointStatus?.failingSince {
        findings.append(
          DoctorFinding(
            "feed", name, .warning, "its endpoint has failed since \(since.text): \(one.endpointStatus?.lastError ?? "")",
            advice: "Repair the endpoint; it is disabled if it fails for too long."))
      } else if let lost = one.dropped, lost > 0 {
        findings.append(
          DoctorFinding(
            "feed", name, .warning, "lost \(TerminalText.count(lost, "event"))",
            advice:
              "Events were deleted before they were acknowledged: its reader or endpoint is too slow, or no reader is running. "
              + "Run attributionctl subscriptions show \(one.name)."))
      } else if let age = one.oldestUnacknowledgedAgeSeconds, age > Self.maxEventAge {
        findings.append(
          DoctorFinding(
            "feed", name, .warning,
            "has a backlog of \(TerminalText.count(one.backlog ?? 0, "event")); the oldest is \(TerminalText.age(age)) old",
            advice:
              "Check that its reader is running, or that its endpoint answers quickly. If nobody needs the subscription, "
              + "run attributionctl subscriptions delete \(one.name)."))
      }
    }
    if findings.isEmpty {
      findings.append(DoctorFinding("feed", "subscriptions", .ok, "\(response.subscriptions.count), none of them with a problem"))
    }
    return findings
  }

  private func keys() async -> [DoctorFinding] {
    let response: ListSigningKeysResponse
    do throws(RPCError) { response = try await connection.client.signer.listSigningKeys(ListSigningKeysRequest()) } catch {
      return [Self.failedCall("signer", error)]
    }
    let owners = Dictionary(grouping: response.keys.filter { $0.adNetworkId != nil }, by: { $0.adNetworkId ?? "" })
    let without = owners.filter { !$0.value.contains { $0.state == "active" } }.keys.sorted()
    guard without.isEmpty else {
      return [
        DoctorFinding(
          "signer", "keys", .warning, "no active key for \(without.joined(separator: ", "))",
          advice: "Nothing can be signed for them. Make a key of each active in the configuration and send SIGHUP to signer.")
      ]
    }
    return [DoctorFinding("signer", "keys", .ok, "\(response.keys.count), with an active key for each of \(owners.count) ad networks")]
  }

  /// The finding for a method whose call failed, so that nothing could be checked.
  private static func failedCall(_ place: String, _ error: RPCError) -> DoctorFinding {
    DoctorFinding(
      place, "asked", error.code == .permissionDenied ? .warning : .failed, "\(error)",
      advice: error.code == .permissionDenied
        ? "This was not checked: add the method to `allow` of this client in the configuration." : "See the log of the service.")
  }
}
