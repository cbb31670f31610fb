/// Which server is called: the one that the caller names, otherwise production and then the sandbox. The id of a purchase does not show in
/// which environment the purchase was made.
extension AppStoreServerAPIClient {
  /// Calls one endpoint, in production or the sandbox. Throws ``AppStoreServerAPIError``, also for a request that Apple would refuse.
  ///
  /// - Parameters:
  ///   - path: the values in the path, in order.
  ///   - server: nil calls production first, and then the sandbox if production does not know the id (4040010 or 4040005, see
  ///     ``AppStoreServerAPIErrorRule``) or refuses the key. Production refuses even the right key of an app that was never released. If the
  ///     caller names production and it refuses the key, the sandbox is asked only whether it accepts the key, so that the error can say so.
  ///   - deadline: the call ends by this time.
  public func call(
    _ endpoint: AppStoreServerEndpoint, bundleId: String, server: AppStoreServer?, path: [String] = [], query: [(String, String)] = [],
    body: [UInt8]? = nil, deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> AppStoreServerResponse {
    let first = server ?? .production
    let target: String
    do throws(RequestRefusal) {
      guard endpoint.exists(on: first) else {
        throw RequestRefusal(field: "environment", "the endpoint exists in \(first == .sandbox ? "production" : "the sandbox") only")
      }
      target = try endpoint.path(path) + PercentEncoding.query(query)
    } catch {
      throw AppStoreServerAPIError(.permanent, message: "\(error)", server: first)
    }
    let mayTrySandbox = server == nil && endpoint.exists(on: .sandbox)
    let refusal: AppStoreServerAPIError
    do throws(AppStoreServerAPIError) {
      return try await ask(endpoint, bundleId, first, target, body, mayTryOther: mayTrySandbox, deadline)
    } catch {
      guard mayTrySandbox else { throw await explained(error, bundleId, deadline) }
      guard error.classification == .tryOtherEnvironment || error.classification == .credentials else { throw error }
      refusal = error
    }
    do throws(AppStoreServerAPIError) {
      return try await ask(endpoint, bundleId, .sandbox, target, body, mayTryOther: false, deadline)
    } catch {
      let verdict = AppStoreServerAPIErrorRule.verdict(production: refusal, sandbox: error)
      guard verdict == refusal, mayMeanUnreleased(refusal, bundleId), AppStoreServerAPIErrorRule.isTokenAccepted(error) == true else {
        throw verdict
      }
      throw AppStoreServerAPIErrorRule.notReleased(refusal)
    }
  }

  /// The error to report for a call to one server. If production refused the key, and the sandbox accepts it, the error says that the app
  /// was probably never released. The sandbox's answer is remembered (``SandboxKeyProbes``).
  private func explained(
    _ error: AppStoreServerAPIError, _ bundleId: String, _ deadline: ContinuousClock.Instant
  ) async -> AppStoreServerAPIError {
    guard mayMeanUnreleased(error, bundleId) else { return error }
    let isAccepted: Bool
    if let known = sandboxProbes.begin(bundleId) {
      isAccepted = known
    } else {
      let answer = await sandboxAcceptsKey(bundleId, min(deadline, ContinuousClock.now + SandboxKeyProbes.timeout))
      sandboxProbes.end(bundleId, isAccepted: answer)
      isAccepted = answer ?? false
    }
    return isAccepted ? AppStoreServerAPIErrorRule.notReleased(error) : error
  }

  /// True if production refused the key, and the reason may be that the app was never released. It is not if production has accepted a key of
  /// the app before. While our clock is so wrong that production refuses right keys too, nothing can be said.
  private func mayMeanUnreleased(_ error: AppStoreServerAPIError, _ bundleId: String) -> Bool {
    error.classification == .credentials && error.server == .production && !sandboxProbes.isReleased(bundleId)
      && abs(error.clockDifference ?? 0) <= AppStoreServerToken.issueMargin
  }

  /// Requests a transaction that does not exist from the sandbox. Returns true if the response shows that the sandbox accepts the app's
  /// key, false if it shows that the sandbox refuses it, and nil if it shows neither.
  private func sandboxAcceptsKey(_ bundleId: String, _ deadline: ContinuousClock.Instant) async -> Bool? {
    let endpoint = AppStoreServerEndpoint.getTransactionInfo
    guard let target = try? endpoint.path(["0"]) else { return nil }
    do throws(AppStoreServerAPIError) {
      _ = try await ask(endpoint, bundleId, .sandbox, target, nil, mayTryOther: false, deadline)
      return true
    } catch {
      return AppStoreServerAPIErrorRule.isTokenAccepted(error)
    }
  }
}
