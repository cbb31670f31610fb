import Synchronization

/// Asks OCSP responders whether the certificates of a chain are revoked, and caches the responses (App Store Server API: x5c; RFC 6960).
/// The ``RevocationPolicy`` decides whether responders are asked, and what their responses mean for the chain.
///
/// The two certificates below the root are checked concurrently. Their revocation counts at the present time, not at the time of signing:
/// whoever has a stolen key can sign any date, so a revoked certificate invalidates everything that it ever signed.
///
/// Concurrent callers that need the same certificate share one query, which the first caller makes. If that caller is cancelled, another
/// one repeats the query.
public final class RevocationChecker: Sendable {
  private typealias Outcome = Result<OCSPResponse, RevocationGap>

  /// The end of a query, for the callers that wait for it.
  private enum QueryEnd: Sendable {
    case done(Outcome)
    /// The caller that made the query was cancelled, so the cache must be checked again.
    case abandoned
  }

  /// What a caller has to do: return the outcome, make the query, or wait for the query in flight.
  private enum Role {
    case finished(Outcome)
    case lead(cached: OCSPResponse?)
    case wait
  }

  /// A certificate whose revocation is checked.
  private struct Subject: Sendable {
    let certificate: Certificate
    let issuer: Certificate
    let digest: [UInt8]
  }

  private struct State: Sendable {
    var cache: RevocationCache
    /// The certificates of the cache, so that ``RevocationChecker/refresh(dueWithin:at:)`` can query them again.
    var subjects: LeastRecentlyUsedCache<[UInt8], Subject>
    /// The queries in flight, by certificate, with the callers that wait for them.
    var queries: [[UInt8]: [UInt64: CheckedContinuation<QueryEnd, Never>]] = [:]
    var lastWaiter: UInt64 = 0
  }

  public let policy: RevocationPolicy
  private let fetcher: any OCSPFetching
  // A lock instead of an actor, because every verdict needs it, and only for a look-up in a table.
  private let state: Mutex<State>

  public init(policy: RevocationPolicy, fetcher: any OCSPFetching, limits: RevocationCache.Limits = .init()) {
    self.policy = policy
    self.fetcher = fetcher
    state = Mutex(State(cache: RevocationCache(limits: limits), subjects: LeastRecentlyUsedCache(capacity: limits.capacity)))
  }

  /// The revocation status of a chain, from the cache or from the responders. `time` is the present time, in seconds since 1970.
  public func revocation(of chain: VerifiedChain, at time: Int64) async -> ChainRevocation {
    // Nearly always both responses are cached. Then no child task is needed.
    if let known = known(of: chain, at: time) { return known }
    let leaf = Subject(certificate: chain.leaf, issuer: chain.intermediate, digest: chain.leafDigest)
    let intermediate = Subject(certificate: chain.intermediate, issuer: chain.root, digest: chain.intermediateDigest)
    async let intermediateOutcome = outcome(intermediate, at: time)
    let leafOutcome = await outcome(leaf, at: time)
    return ChainRevocation(policy, leaf: Self.revocation(leafOutcome), intermediate: Self.revocation(await intermediateOutcome))
  }

  /// The cached revocation status of a chain at `time`, in seconds since 1970; nil if a responder must be asked.
  public func known(of chain: VerifiedChain, at time: Int64) -> ChainRevocation? {
    guard policy != .off else { return ChainRevocation(policy, leaf: .notAsked, intermediate: .notAsked) }
    return state.withLock { state in
      guard let leaf = Self.known(chain.leafDigest, &state.cache, at: time),
        let intermediate = Self.known(chain.intermediateDigest, &state.cache, at: time)
      else { return nil }
      return ChainRevocation(policy, leaf: Self.revocation(leaf), intermediate: Self.revocation(intermediate))
    }
  }

  /// Refreshes the responses that are due within that many seconds, so that no verdict waits for a responder. Meant to be called
  /// periodically. Does nothing if the policy is `off`. Returns the number of queries that it made.
  @discardableResult
  public func refresh(dueWithin seconds: Int64, at time: Int64) async -> Int {
    guard policy != .off else { return 0 }
    let due = state.withLock { state in
      state.cache.digests.filter { state.cache.isDue($0, within: seconds, at: time) && state.queries[$0] == nil }
        .compactMap { state.subjects.peek($0) }
    }
    var queries = 0
    for subject in due where !Task.isCancelled {
      let isFree = state.withLock { state in
        guard state.queries[subject.digest] == nil else { return false }
        state.queries[subject.digest] = [:]
        return true
      }
      guard isFree else { continue }
      _ = await lead(subject, cached: nil, at: time)
      queries += 1
    }
    return queries
  }

  // MARK: Queries

  private static func known(_ digest: [UInt8], _ cache: inout RevocationCache, at time: Int64) -> Outcome? {
    switch cache.find(digest, at: time) {
    case .response(let response): .success(response)
    case .failed(let gap): .failure(gap)
    case .ask: nil
    }
  }

  private static func revocation(_ outcome: Outcome) -> CertificateRevocation {
    switch outcome {
    case .success(let response): .answered(response.status)
    case .failure(let gap): .unanswered(gap)
    }
  }

  private func outcome(_ subject: Subject, at time: Int64) async -> Outcome {
    while true {
      switch role(subject, at: time) {
      case .finished(let outcome): return outcome
      case .lead(let cached): return await lead(subject, cached: cached, at: time)
      case .wait:
        if case .done(let outcome) = await queryEnd(of: subject.digest) { return outcome }
        if Task.isCancelled { return .failure(.fetch(.cancelled)) }
      }
    }
  }

  /// Decides what the caller has to do. If it must make the query, the query is already in `queries`.
  private func role(_ subject: Subject, at time: Int64) -> Role {
    state.withLock { state in
      switch state.cache.find(subject.digest, at: time) {
      case .response(let response): return .finished(.success(response))
      case .failed(let gap): return .finished(.failure(gap))
      case .ask(let cached):
        guard state.queries[subject.digest] == nil else { return .wait }
        state.queries[subject.digest] = [:]
        state.subjects.keep(subject, for: subject.digest)
        return .lead(cached: cached)
      }
    }
  }

  /// Makes the query, which is already in `queries`, and resumes the callers that wait for it.
  private func lead(_ subject: Subject, cached: OCSPResponse?, at time: Int64) async -> Outcome {
    let queried = await ask(subject, at: time)
    if case .failure(.fetch(.cancelled)) = queried {
      finish(subject.digest) { _ in .abandoned }
      return cached.map { .success($0) } ?? queried
    }
    var outcome = queried
    finish(subject.digest) { cache in
      switch queried {
      case .success(let response): outcome = .success(cache.keep(response, for: subject.digest, at: time))
      case .failure(let gap):
        if let cached = cache.keep(gap, for: subject.digest, at: time) { outcome = .success(cached) }
      }
      return .done(outcome)
    }
    return outcome
  }

  private func ask(_ subject: Subject, at time: Int64) async -> Outcome {
    let request: OCSPRequest
    do throws(OCSPRequest.Failure) { request = try OCSPRequest(certificate: subject.certificate, issuer: subject.issuer) } catch {
      return .failure(.request(error))
    }
    let bytes: [UInt8]
    do throws(OCSPFetchFailure) { bytes = try await fetcher.fetch(request) } catch {
      // Whatever error the fetcher throws in a cancelled task, the error says nothing about the responder.
      return .failure(.fetch(Task.isCancelled ? .cancelled : error))
    }
    do throws(OCSPRefusal) {
      return .success(
        try OCSPResponse(verifying: bytes, certificate: subject.certificate, issuer: subject.issuer, at: time))
    } catch {
      return .failure(.refused(error))
    }
  }

  /// Ends a query. The cache is updated and the query removed under one lock, so that no caller starts another query in between.
  private func finish(_ digest: [UInt8], _ settle: (inout RevocationCache) -> QueryEnd) {
    let (end, waiting) = state.withLock { state in
      let end = settle(&state.cache)
      return (end, state.queries.removeValue(forKey: digest) ?? [:])
    }
    for continuation in waiting.values { continuation.resume(returning: end) }
  }

  /// Waits for the end of a query in flight.
  private func queryEnd(of digest: [UInt8]) async -> QueryEnd {
    let waiter = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // True if the query has ended since `role`, or if this task was cancelled before its continuation was stored.
        let isLate = state.withLock { state in
          guard state.queries[digest] != nil, !Task.isCancelled else { return true }
          state.queries[digest]![waiter] = continuation
          return false
        }
        if isLate { continuation.resume(returning: .abandoned) }
      }
    } onCancel: {
      let waiting = state.withLock { $0.queries[digest]?.removeValue(forKey: waiter) }
      waiting?.resume(returning: .abandoned)
    }
  }
}
