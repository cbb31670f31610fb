import Synchronization

/// Asks responders about chains, by a policy, and remembers what they say (App Store Server API: x5c; RFC 6960).
///
/// Both certificates below the root are asked about, at the same time. Their revocation counts now, whenever the data says it was signed: a
/// date under a stolen key is worth nothing, so a revoked certificate takes with it what it ever signed.
///
/// Questions about the same certificate at the same time are one question. Who asks first carries it; when that one is cancelled, another
/// takes it over.
public final class RevocationChecker: Sendable {
  private typealias Outcome = Result<OCSPResponse, RevocationGap>

  /// How a question ends for those who wait for it.
  private enum Landing: Sendable {
    case done(Outcome)
    /// Without an answer, by cancellation: look again.
    case abandoned
  }

  private enum Turn {
    case finished(Outcome)
    case lead(standing: OCSPResponse?)
    case wait
  }

  private struct Subject: Sendable {
    let certificate: Certificate
    let issuer: Certificate
    let digest: [UInt8]
  }

  private struct State: Sendable {
    var cache: RevocationCache
    var subjects: RecentlyUsed<[UInt8], Subject>
    /// Who waits for a question that is under way.
    var flights: [[UInt8]: [UInt64: CheckedContinuation<Landing, Never>]] = [:]
    var tickets: UInt64 = 0
  }

  public let policy: RevocationPolicy
  private let fetcher: any OCSPFetching
  // A lock, no actor: it is held for a look into a table, by every verdict.
  private let state: Mutex<State>

  public init(policy: RevocationPolicy, fetcher: any OCSPFetching, limits: RevocationCache.Limits = .init()) {
    self.policy = policy
    self.fetcher = fetcher
    state = Mutex(State(cache: RevocationCache(limits: limits), subjects: RecentlyUsed(capacity: limits.capacity)))
  }

  /// What is known, or can be learnt, of a chain's revocation at `time`, which is now, in seconds since 1970.
  public func revocation(of chain: VerifiedChain, at time: Int64) async -> ChainRevocation {
    // Nearly always both are known, and no task is needed to say so.
    if let known = known(of: chain, at: time) { return known }
    let leaf = Subject(certificate: chain.leaf, issuer: chain.intermediate, digest: chain.leafDigest)
    let intermediate = Subject(certificate: chain.intermediate, issuer: chain.root, digest: chain.intermediateDigest)
    async let above = outcome(intermediate, at: time)
    let below = await outcome(leaf, at: time)
    return ChainRevocation(policy, leaf: Self.revocation(below), intermediate: Self.revocation(await above))
  }

  /// What is known of a chain's revocation at `time`; nil where somebody would have to be asked first.
  public func known(of chain: VerifiedChain, at time: Int64) -> ChainRevocation? {
    guard policy != .off else { return ChainRevocation(policy, leaf: .notAsked, intermediate: .notAsked) }
    return state.withLock { state in
      guard let below = Self.known(chain.leafDigest, &state.cache, at: time),
        let above = Self.known(chain.intermediateDigest, &state.cache, at: time)
      else { return nil }
      return ChainRevocation(policy, leaf: Self.revocation(below), intermediate: Self.revocation(above))
    }
  }

  /// Asks again about every remembered certificate whose answer is due within so many seconds, so that no verdict waits for it. Meant to be
  /// called now and then; does nothing when the policy is `off`. Answers how many were asked about.
  @discardableResult
  public func refresh(dueWithin seconds: Int64, at time: Int64) async -> Int {
    guard policy != .off else { return 0 }
    let due = state.withLock { state in
      state.cache.digests.filter { state.cache.isDue($0, within: seconds, at: time) && state.flights[$0] == nil }
        .compactMap { state.subjects.peek($0) }
    }
    var asked = 0
    for subject in due where !Task.isCancelled {
      let free = state.withLock { state in
        guard state.flights[subject.digest] == nil else { return false }
        state.flights[subject.digest] = [:]
        return true
      }
      guard free else { continue }
      _ = await lead(subject, standing: nil, at: time)
      asked += 1
    }
    return asked
  }

  // MARK: Questions

  private static func known(_ digest: [UInt8], _ cache: inout RevocationCache, at time: Int64) -> Outcome? {
    switch cache.find(digest, at: time) {
    case .answer(let answer): .success(answer)
    case .failed(let gap): .failure(gap)
    case .ask: nil
    }
  }

  private static func revocation(_ outcome: Outcome) -> CertificateRevocation {
    switch outcome {
    case .success(let answer): .answered(answer.status)
    case .failure(let gap): .unanswered(gap)
    }
  }

  private func outcome(_ subject: Subject, at time: Int64) async -> Outcome {
    while true {
      switch turn(subject, at: time) {
      case .finished(let outcome): return outcome
      case .lead(let standing): return await lead(subject, standing: standing, at: time)
      case .wait:
        if case .done(let outcome) = await landing(of: subject.digest) { return outcome }
        if Task.isCancelled { return .failure(.fetch(.cancelled)) }
      }
    }
  }

  private func turn(_ subject: Subject, at time: Int64) -> Turn {
    state.withLock { state in
      switch state.cache.find(subject.digest, at: time) {
      case .answer(let answer): return .finished(.success(answer))
      case .failed(let gap): return .finished(.failure(gap))
      case .ask(let standing):
        guard state.flights[subject.digest] == nil else { return .wait }
        state.flights[subject.digest] = [:]
        state.subjects.keep(subject, for: subject.digest)
        return .lead(standing: standing)
      }
    }
  }

  /// Carries the question, of which there is now a flight, and tells those who wait.
  private func lead(_ subject: Subject, standing: OCSPResponse?, at time: Int64) async -> Outcome {
    let asked = await ask(subject, at: time)
    if case .failure(.fetch(.cancelled)) = asked {
      land(subject.digest) { _ in .abandoned }
      return standing.map { .success($0) } ?? asked
    }
    var outcome = asked
    land(subject.digest) { cache in
      switch asked {
      case .success(let answer): outcome = .success(cache.keep(answer, for: subject.digest, at: time))
      case .failure(let gap):
        if let standing = cache.keep(gap, for: subject.digest, at: time) { outcome = .success(standing) }
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
      // Whatever a fetch calls it when its task is cancelled, it says nothing about the responder.
      return .failure(.fetch(Task.isCancelled ? .cancelled : error))
    }
    do throws(OCSPRefusal) {
      return .success(
        try OCSPResponse(verifying: bytes, certificate: subject.certificate, issuer: subject.issuer, at: time))
    } catch {
      return .failure(.refused(error))
    }
  }

  /// Ends the flight: what is kept and what is told are decided in one step, so that nobody asks between the two.
  private func land(_ digest: [UInt8], _ settle: (inout RevocationCache) -> Landing) {
    let (landing, waiting) = state.withLock { state in
      let landing = settle(&state.cache)
      return (landing, state.flights.removeValue(forKey: digest) ?? [:])
    }
    for continuation in waiting.values { continuation.resume(returning: landing) }
  }

  private func landing(of digest: [UInt8]) async -> Landing {
    let ticket = state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // Landed meanwhile, or cancelled before there was anything to wake.
        let isLate = state.withLock { state in
          guard state.flights[digest] != nil, !Task.isCancelled else { return true }
          state.flights[digest]![ticket] = continuation
          return false
        }
        if isLate { continuation.resume(returning: .abandoned) }
      }
    } onCancel: {
      let waiting = state.withLock { $0.flights[digest]?.removeValue(forKey: ticket) }
      waiting?.resume(returning: .abandoned)
    }
  }
}
