import AppStore
import AttributionProtocol
import AttributionQueue
import ServiceRuntime
import WireJSON

/// Requests of the App Store for retention messages, which ingest has answered.
extension VerificationWorker {
  /// Publishes one event for each request. A request that cannot be verified makes no event, whatever process queued it.
  func retention(_ lease: LeasedMessage) -> WorkOutcome {
    guard let record = RetentionRecord(body: lease.message.body), let app = lease.message.attributes[RetentionRecord.bundleIdAttribute]
    else {
      return .deadLetter(error: "the message is not a request for a retention message")
    }
    // Revocation is not checked, because ingest has already answered the request.
    let verdict = signedData.offlineVerdict(
      on: record.signedPayload, kind: .realtimeRequest, expecting: SignedDataExpectation(bundleId: app), now: WallClock.now())
    guard verdict.valid, let payload = verdict.payload, let question = try? RealtimeRequest(validating: payload) else {
      return .complete(Completion(state: .rejected, events: [], reason: verdict.reason?.rawValue ?? "malformed"))
    }
    var data = common(lease)
    data["environment"] = .string(question.environment)
    data["requestIdentifier"] = .string(question.requestIdentifier)
    data["originalTransactionId"] = .string(question.originalTransactionId)
    data["request"] = .object(payload)
    data["answer"] = .object(record.answer)
    data["decision"] = .object(record.decision)
    verifiedMetric.add(lease.message.kind, question.environment)
    let id = question.naturalKey
    return .complete(
      Completion(
        state: .verified, naturalKey: id,
        events: [
          EventRecord(
            id: id, type: EventType.retentionDecided.rawValue, json: event(id, .retentionDecided, subject: app, data),
            attributes: EventAttributes(appAppleId: question.appAppleId, bundleId: app, environment: question.environment))
        ]))
  }
}
