import AppStore
import AttributionProtocol
import RedisClient
import ServiceRuntime
import WireJSON

/// Makes calls of the Advanced Commerce API, each once under its `requestReferenceId`. A call is recorded before it is sent. If its outcome
/// is unknown, Apple is asked for the purchase before the call is sent again.
struct CommerceCalls: Sendable {
  /// The response of a call, and whether the call was made before.
  struct Outcome: Sendable {
    let response: AppStoreCalls.Response
    let isRepeated: Bool
  }

  /// The part of a call's time that is reserved for finding out its outcome.
  private static let reserve: Duration = .seconds(2)

  let calls: AppStoreCalls
  let store: CommerceStore

  func perform(
    _ operation: AdvancedCommerceRequest.Operation, bundleId: String?, environment: String?, transactionId: String?, body: JSONObject?,
    _ context: RPCContext
  ) async throws(RPCError) -> Outcome {
    let app = try calls.app(bundleId)
    let id = try calls.transactionId("transactionId", transactionId)
    let server = try calls.server(environment, of: app)
    guard let body else { throw .invalidArgument(field: "request", "is missing") }
    let request = try RetentionCalls.checked(inside: "request") { () throws(RequestRefusal) in
      try AdvancedCommerceRequest(operation, body, server: server)
    }
    return try await ExclusiveCall(redis: store.redis).run(
      CommerceStore.exclusiveKey(app.bundleId, request.requestReferenceId), until: context.deadline,
      otherwise: .unavailable(
        "the same request is being made by another call", reason: "REQUEST_UNDER_WAY", retryAfter: .seconds(2))
    ) { () async throws(RPCError) in try await perform(request, id, app, server, context) }
  }

  private func perform(
    _ request: AdvancedCommerceRequest, _ id: String, _ app: DeploymentConfiguration.App, _ server: AppStoreServer?, _ context: RPCContext
  ) async throws(RPCError) -> Outcome {
    let known: CommerceRecord?
    do throws(RedisError) { known = try await store.record(app.bundleId, request.requestReferenceId) } catch { throw RPCError(error) }
    var record = CommerceRecord(
      bundleId: app.bundleId, reference: request.requestReferenceId, environment: server?.rawValue ?? "",
      operation: request.operation.rawValue, transactionId: id, request: request.body, state: .sending, startedAt: WallClock.now())
    var mayHaveBeenSent = false
    // A refused request has done nothing, so its identifier may be used for another request.
    if let known, known.state != .refused {
      guard known.isRepeated(by: request, transactionId: id, server: server) else {
        throw .failedPrecondition(
          "another request was made under this request.requestInfo.requestReferenceId", reason: "REQUEST_REFERENCE_REUSED")
      }
      if known.state == .answered, let response = known.response, let server = AppStoreServer(rawValue: known.environment) {
        return Outcome(response: AppStoreCalls.Response(server: server, body: response, decoded: known.decoded), isRepeated: true)
      }
      record = known
      mayHaveBeenSent = true
      do throws(RPCError) {
        let found = try await found(request, id, app, server, since: record.startedAt, context)
        record.purchase = found?.response.purchase ?? record.purchase
        if let found, found.isDone { return try await end(&record, found.response, isRepeated: true) }
      } catch {
        // If Apple does not know the purchase, nothing was done to it, and the request is sent again.
        guard error.code == .notFound else { throw error }
      }
    } else {
      // Without the record, nobody would know later that the call may have been made.
      try await write(record)
    }
    return try await send(request, &record, mayHaveBeenSent: mayHaveBeenSent, app, server, context)
  }

  private func send(
    _ request: AdvancedCommerceRequest, _ record: inout CommerceRecord, mayHaveBeenSent: Bool, _ app: DeploymentConfiguration.App,
    _ server: AppStoreServer?, _ context: RPCContext
  ) async throws(RPCError) -> Outcome {
    do throws(AppStoreCallFailure) {
      let response = try await calls.ask(
        request.operation.endpoint, app: app, server: server, path: [record.transactionId], body: request.body,
        deadline: context.deadline - Self.reserve)
      return await endQuietly(&record, response)
    } catch {
      record.lastError = "\(error)"
      let failure = RPCError(error, now: WallClock.now())
      guard case .apple(let reason) = error else {
        // Apple has executed the call, but its response cannot be verified. The next call looks the purchase up.
        try await write(record)
        throw failure
      }
      record.errorCode = reason.errorCode
      if reason.isOutcomeUnknown || mayHaveBeenSent {
        let isRepetition = reason.errorCode == AppStoreServerAPIErrorRule.repeatedRequestReference
        let result = await lookUp(request, record, app, server, context)
        record.purchase = result.purchase ?? record.purchase
        if case .found(let found) = result, found.isDone || isRepetition { return try await end(&record, found.response, isRepeated: true) }
        // The call is over only if Apple refuses the request itself and the purchase shows that nothing was done before.
        guard reason.classification == .permanent, !isRepetition, result.excludes(request) else {
          try await write(record)
          throw failure
        }
      }
      record.state = .refused
      record.completedAt = WallClock.now()
      try await write(record)
      throw failure
    }
  }

  /// Stores Apple's answer. If Redis is unavailable, the answer is returned all the same, and the next call looks the purchase up.
  private func endQuietly(_ record: inout CommerceRecord, _ response: AppStoreCalls.Response) async -> Outcome {
    do throws(RPCError) { return try await end(&record, response, isRepeated: false) } catch {
      return Outcome(response: response, isRepeated: false)
    }
  }

  private func end(_ record: inout CommerceRecord, _ response: AppStoreCalls.Response, isRepeated: Bool) async throws(RPCError) -> Outcome {
    record.state = .answered
    record.environment = response.server.rawValue
    record.completedAt = WallClock.now()
    record.purchase = response.purchase ?? record.purchase
    record.response = response.body
    record.decoded = response.decoded
    record.lastError = nil
    record.errorCode = nil
    try await write(record)
    return Outcome(response: response, isRepeated: isRepeated)
  }

  private func write(_ record: CommerceRecord) async throws(RPCError) {
    do throws(RedisError) { try await store.write(record) } catch { throw RPCError(error) }
  }

  // MARK: Looking up

  /// Whether the purchase shows that a call was executed.
  private enum LookUpResult {
    case found((response: AppStoreCalls.Response, isDone: Bool))
    /// Apple does not know the purchase.
    case noPurchase
    case unknown

    /// Nil if the purchase was not found.
    var purchase: String? {
      guard case .found(let found) = self else { return nil }
      return found.response.purchase
    }

    /// True if the request was not executed.
    func excludes(_ request: AdvancedCommerceRequest) -> Bool {
      switch self {
      case .found(let found): request.isVisibleInPurchase && !found.isDone
      case .noPurchase: true
      case .unknown: false
      }
    }
  }

  private func lookUp(
    _ request: AdvancedCommerceRequest, _ record: CommerceRecord, _ app: DeploymentConfiguration.App, _ server: AppStoreServer?,
    _ context: RPCContext
  ) async -> LookUpResult {
    do throws(RPCError) {
      let found = try await found(request, record.transactionId, app, server, since: record.startedAt, context)
      return found.map { .found($0) } ?? .unknown
    } catch { return error.code == .notFound ? .noPurchase : .unknown }
  }

  /// The purchase's current state in the form of a response, and whether it is what was requested; nil if Apple names no transaction.
  private func found(
    _ request: AdvancedCommerceRequest, _ id: String, _ app: DeploymentConfiguration.App, _ server: AppStoreServer?, since sentAt: Int64,
    _ context: RPCContext
  ) async throws(RPCError) -> (response: AppStoreCalls.Response, isDone: Bool)? {
    let info = try await calls.ask(.getTransactionInfo, app: app, server: server, path: [id], context)
    guard let transaction = info.decoded.first, let original = transaction["originalTransactionId"]?.stringValue else { return nil }
    guard transaction["type"]?.stringValue == "Auto-Renewable Subscription" else {
      return (info, request.isDone(transactionInfo: transaction, renewalInfo: nil, sentAt: sentAt))
    }
    let statuses = try await calls.ask(.getAllSubscriptionStatuses, app: app, server: info.server, path: [id], context)
    for (found, status) in StatusObservation.entries(in: statuses.body) where found == original {
      guard let newest = statuses.payload(of: status.signedTransactionInfo) else { continue }
      var body: JSONObject = ["signedTransactionInfo": .string(status.signedTransactionInfo)]
      var decoded = [newest]
      var renewal: JSONObject?
      if let jws = status.signedRenewalInfo, let payload = statuses.payload(of: jws) {
        body["signedRenewalInfo"] = .string(jws)
        decoded.append(payload)
        renewal = payload
      }
      let response = AppStoreCalls.Response(server: info.server, body: body, decoded: decoded)
      return (response, request.isDone(transactionInfo: newest, renewalInfo: renewal, sentAt: sentAt))
    }
    return (info, request.isDone(transactionInfo: transaction, renewalInfo: nil, sentAt: sentAt))
  }
}

extension AppStoreCalls.Response {
  /// The purchase that the response is about, by its first transaction.
  fileprivate var purchase: String? { decoded.lazy.compactMap { $0["originalTransactionId"]?.stringValue }.first }
}
