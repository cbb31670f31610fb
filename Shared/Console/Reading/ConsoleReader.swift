import AttributionClient
import AttributionProtocol
import ServiceRuntime

/// Calls methods of the contract for one request of a page. It calls only methods that the page's user may call, and returns a notice for
/// the others and for services that do not answer, so that the rest of the page is shown.
struct ConsoleReader: Sendable {
  /// The timeout of calls to other services, so that the rest of a page need not wait longer.
  private static let timeout: Duration = .seconds(3)

  let calls: PageCalls
  let services: ConsoleServices
  let cache: ResponseCache

  /// True if the user may call the method.
  func may(_ method: any RPCMethod.Type) -> Bool { calls.may(method) }

  /// Calls a method of verifier, which serves the console, without the network.
  func verifier<Method: RPCMethod>(_ method: Method.Type, _ request: Method.Request) async -> QueryResult<Method.Response> {
    await query(method, request, of: "verifier") { (calls) throws(RPCError) in try await calls.call(method, request) }
  }

  /// Calls a method of signer.
  func signer<Method: RPCMethod>(_ method: Method.Type, _ request: Method.Request) async -> QueryResult<Method.Response> {
    guard let client = services.signer else { return .notice(.notConfigured("signer", "ATTRIBUTION_SIGNER_URL")) }
    return await query(method, request, of: "signer", client)
  }

  /// Calls a method of notification-recovery.
  func recovery<Method: RPCMethod>(_ method: Method.Type, _ request: Method.Request) async -> QueryResult<Method.Response> {
    guard let client = services.recovery else {
      return .notice(.recoveryNotConfigured)
    }
    return await query(method, request, of: "notification-recovery", client)
  }

  private func query<Method: RPCMethod>(_ method: Method.Type, _ request: Method.Request, of service: String, _ client: RPCClient) async
    -> QueryResult<Method.Response>
  {
    await query(method, request, of: service) { (_) throws(RPCError) in
      try await client.call(method, request, timeout: Self.timeout)
    }
  }

  private func query<Method: RPCMethod>(
    _ method: Method.Type, _ request: Method.Request, of service: String,
    _ call: @escaping @Sendable (PageCalls) async throws(RPCError) -> Method.Response
  ) async -> QueryResult<Method.Response> {
    guard may(method) else { return .notice(.notAllowed(Method.name)) }
    let calls = calls
    do throws(RPCError) {
      // Before the cache, so that each query of each user counts for the user's own rate, and the refusal of one user is shown to no other.
      try calls.admit(method)
      return .response(
        try await cache.response("\(Method.path) \(String(decoding: request.json, as: UTF8.self))") { () throws(RPCError) in
          try await call(calls)
        })
    } catch { return .notice(Notice(error, of: service)) }
  }
}
