import COpenSSL
import Synchronization
import TestSupport
import Testing

@testable import Cryptography

/// A responder in memory with given answers, which counts the requests.
final class ScriptedResponder: OCSPFetching {
  let asked = Mutex(0)
  let response: @Sendable (OCSPRequest) async throws(OCSPFetchFailure) -> [UInt8]

  init(_ response: @escaping @Sendable (OCSPRequest) async throws(OCSPFetchFailure) -> [UInt8]) { self.response = response }

  func fetch(_ request: OCSPRequest) async throws(OCSPFetchFailure) -> [UInt8] {
    asked.withLock { $0 += 1 }
    return try await response(request)
  }
}

@Suite("Revocation")
struct RevocationTests {
  static let now = TestAuthority.now
  let root: TestAuthority
  let middle: TestAuthority
  let leaf: TestAuthority

  init() throws {
    root = try TestAuthority(.root)
    middle = try TestAuthority(.intermediate, under: root, responder: "http://ocsp.test/root")
    leaf = try TestAuthority(.leaf, under: middle, responder: "http://ocsp.test/middle")
  }

  var x5c: [String] { [leaf, middle, root].map { Base64.encode($0.certificate.der) } }

  func read(_ bytes: [UInt8]) throws(OCSPRefusal) -> OCSPResponse {
    try OCSPResponse(verifying: bytes, certificate: leaf.certificate, issuer: middle.certificate, at: Self.now)
  }

  func made(
    by signer: TestAuthority? = nil, _ status: CertificateStatus = .good, thisUpdate: Int64 = now - 60, nextUpdate: Int64? = now + 600,
    digest: OpaquePointer? = EVP_sha256(), identifier: OpaquePointer? = EVP_sha1()
  ) -> [UInt8] {
    (signer ?? middle).ocspResponse(
      about: leaf.certificate, under: middle.certificate, status, thisUpdate: thisUpdate, nextUpdate: nextUpdate, digest: digest,
      identifier: identifier)
  }

  @Test("an answer is read for any hash of the certificate id")
  func statuses() throws {
    for status in [CertificateStatus.good, .unknown, .revoked(at: Self.now - 500, reason: 1), .revoked(at: Self.now - 9, reason: nil)] {
      for hash in [EVP_sha1(), EVP_sha256(), EVP_sha384()] { #expect(try read(made(status, identifier: hash)).status == status) }
    }
    let request = try OCSPRequest(certificate: leaf.certificate, issuer: middle.certificate)
    #expect(request.responder == "http://ocsp.test/middle")
    let silent = try TestAuthority(.leaf, under: middle, responder: nil)
    #expect(throws: OCSPRequest.Failure.noResponder) { try OCSPRequest(certificate: silent.certificate, issuer: middle.certificate) }
  }

  @Test("times are checked, with a tolerance of a minute")
  func times() throws {
    let now = Self.now
    #expect(try read(made(thisUpdate: now + 60)).status == .good)
    #expect(throws: OCSPRefusal.notYetValid(thisUpdate: now + 61)) { try read(made(thisUpdate: now + 61)) }
    #expect(try read(made(thisUpdate: now - 900, nextUpdate: now - 60)).status == .good)
    #expect(throws: OCSPRefusal.expired(nextUpdate: now - 61)) { try read(made(thisUpdate: now - 900, nextUpdate: now - 61)) }
    #expect(throws: OCSPRefusal.withoutNextUpdate) { try read(made(nextUpdate: nil)) }
    #expect(throws: OCSPRefusal.contradictoryTimes) { try read(made(thisUpdate: now, nextUpdate: now - 1)) }
  }

  @Test("only the issuer or its delegate may answer, and only about this certificate")
  func signers() throws {
    let delegate = try TestAuthority(.responder(purpose: true), under: middle)
    #expect(try read(made(by: delegate)).status == .good)
    let purposeless = try TestAuthority(.responder(purpose: false), under: middle)
    #expect(throws: OCSPRefusal.signerWithoutPurpose) { try read(made(by: purposeless)) }
    let foreign = try TestAuthority(.responder(purpose: true), under: root)
    #expect(throws: OCSPRefusal.signerOfOtherIssuer) { try read(made(by: foreign)) }
    let old = try TestAuthority(.responder(purpose: true), under: middle, notAfter: Self.now - 61)
    #expect(throws: OCSPRefusal.signerOutOfDate) { try read(made(by: old)) }
    #expect(throws: OCSPRefusal.signerOfOtherIssuer) { try read(made(by: root)) }
    #expect(throws: OCSPRefusal.weakSignature("ecdsa-with-SHA1")) { try read(made(digest: EVP_sha1())) }
    let other = try TestAuthority(.leaf, under: middle)
    #expect(throws: OCSPRefusal.otherCertificate) {
      try read(middle.ocspResponse(about: other.certificate, under: middle.certificate))
    }
    // The same serial number with another issuer.
    #expect(throws: OCSPRefusal.otherCertificate) { try read(middle.ocspResponse(about: leaf.certificate, under: root.certificate)) }
    #expect(throws: OCSPRefusal.notSuccessful(status: 3)) { try read([0x30, 0x03, 0x0A, 0x01, 0x03]) }
    #expect(throws: OCSPRefusal.tooLarge(OCSPResponse.sizeLimit + 1)) { try read([UInt8](repeating: 0, count: OCSPResponse.sizeLimit + 1)) }
    #expect(throws: OCSPRefusal.malformed("bytes after the response")) { try read(made() + [0]) }
  }

  @Test("a damaged answer is never good unless its signed part is unchanged")
  func damage() throws {
    var random = SeededRandom("damaged OCSP answers")
    let delegate = try TestAuthority(.responder(purpose: true), under: middle)
    for original in [made(), made(by: delegate), made(.revoked(at: Self.now - 5, reason: 1))] {
      let whole = try read(original)
      for count in 0..<original.count { #expect(throws: OCSPRefusal.self) { try read(Array(original.prefix(count))) } }
      for _ in 0..<2000 {
        var bytes = original
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        guard let response = try? read(bytes) else { continue }
        #expect(response == whole && Self.signed(bytes) == Self.signed(original), "what was signed has changed")
      }
    }
  }

  /// The signed part of an answer, as DER.
  static func signed(_ bytes: [UInt8]) -> [UInt8] {
    let response = bytes.withUnsafeBufferPointer { buffer in
      var pointer = buffer.baseAddress
      return d2i_OCSP_RESPONSE(nil, &pointer, buffer.count)
    }
    defer { OCSP_RESPONSE_free(response) }
    let basic = OCSP_response_get1_basic(response)
    defer { OCSP_BASICRESP_free(basic) }
    var der: UnsafeMutablePointer<UInt8>?
    let count = i2d_OCSP_RESPDATA(OCSP_resp_get0_respdata(basic), &der)
    defer { CRYPTO_free(der, nil, 0) }
    return Array(UnsafeBufferPointer(start: der, count: Int(max(0, count))))
  }

  @Test("by default, an answer is asked for again after an hour, however long it is valid")
  func defaultLimits() {
    var cache = RevocationCache()
    let (now, digest) = (Self.now, [UInt8](repeating: 1, count: 32))
    let answer = cache.keep(OCSPResponse(status: .good, thisUpdate: now, nextUpdate: now + 7 * 86_400), for: digest, at: now)
    #expect(cache.find(digest, at: now + 3599) == .response(answer))
    #expect(cache.find(digest, at: now + 3600) == .ask(cached: answer))
  }

  @Test("the cache queries again at nextUpdate, pauses after a failure, and keeps valid answers")
  func memory() {
    var cache = RevocationCache(limits: .init(capacity: 2, maxAge: 100, failureAge: 10))
    let gap = RevocationGap.fetch(.status(503))
    let good = OCSPResponse(status: .good, thisUpdate: 0, nextUpdate: 50)
    #expect(cache.find([1], at: 0) == .ask(cached: nil))
    #expect(cache.keep(good, for: [1], at: 0) == good)
    #expect(cache.find([1], at: 49) == .response(good))
    #expect(cache.find([1], at: 50) == .ask(cached: good))
    #expect(cache.keep(gap, for: [1], at: 50) == good)
    #expect(cache.find([1], at: 59) == .response(good))
    #expect(cache.find([1], at: 110) == .ask(cached: good))
    #expect(cache.find([1], at: 111) == .ask(cached: nil))
    #expect(cache.keep(gap, for: [1], at: 111) == nil)
    #expect(cache.find([1], at: 120) == .failed(gap))
    #expect(cache.find([1], at: 121) == .ask(cached: nil))
    let long = OCSPResponse(status: .good, thisUpdate: 0, nextUpdate: 9999)
    #expect(cache.keep(long, for: [2], at: 0) == long)
    #expect(cache.find([2], at: 99) == .response(long))
    #expect(cache.find([2], at: 100) == .ask(cached: long))
    let revoked = OCSPResponse(status: .revoked(at: 5, reason: 1), thisUpdate: 10, nextUpdate: 200)
    #expect(cache.keep(revoked, for: [2], at: 100) == revoked)
    #expect(cache.keep(long, for: [2], at: 101) == revoked, "an old answer does not displace a newer one")
    #expect(cache.find([2], at: 99_999) == .ask(cached: revoked), "a final revocation stands")
    _ = cache.keep(good, for: [3], at: 0)
    #expect(cache.count == 2 && cache.find([1], at: 0) == .ask(cached: nil))
  }

  @Test("the decisions of each policy")
  func policies() {
    let good = CertificateRevocation.answered(.good)
    let unknown = CertificateRevocation.answered(.unknown)
    let revoked = CertificateRevocation.answered(.revoked(at: 1, reason: nil))
    let gap = CertificateRevocation.unanswered(.fetch(.status(500)))
    let table: [(CertificateRevocation, RevocationDecision, RevocationDecision)] = [
      (good, .accepted, .accepted), (unknown, .revocationUnknown, .revocationUnknown),
      (revoked, .certificateRevoked, .certificateRevoked), (gap, .acceptedUnconfirmed, .revocationUnknown),
    ]
    for (state, soft, hard) in table {
      for (below, above) in [(state, good), (good, state)] {
        #expect(RevocationPolicy.off.decision(leaf: below, intermediate: above) == .accepted)
        #expect(RevocationPolicy.whenReachable.decision(leaf: below, intermediate: above) == soft)
        #expect(RevocationPolicy.required.decision(leaf: below, intermediate: above) == hard)
      }
    }
    #expect(RevocationPolicy.whenReachable.decision(leaf: gap, intermediate: revoked) == .certificateRevoked)
  }

  @Test("concurrent queries call each responder once, and later ones use the cache")
  func singleFlight() async throws {
    let chain = try CertificateChainVerifier(roots: [root.certificate]).verifiedChain(x5c: x5c, at: Self.now)
    let below = made()
    let above = root.ocspResponse(about: middle.certificate, under: root.certificate)
    let responder = ScriptedResponder { request throws(OCSPFetchFailure) in
      for _ in 0..<50 { await Task.yield() }
      return request.responder.hasSuffix("root") ? above : below
    }
    let checker = RevocationChecker(policy: .required, fetcher: responder)
    #expect(checker.known(of: chain, at: Self.now) == nil)
    let all = await withTaskGroup(of: RevocationDecision.self) { group in
      for _ in 0..<200 { group.addTask { await checker.revocation(of: chain, at: Self.now).decision } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(all.count == 200 && all.allSatisfy { $0 == .accepted })
    #expect(responder.asked.withLock { $0 } == 2)
    #expect(checker.known(of: chain, at: Self.now)?.decision == .accepted)
    #expect(checker.known(of: chain, at: Self.now + 7200) == nil)
    #expect(await checker.refresh(dueWithin: 10, at: Self.now) == 0)
    #expect(await checker.refresh(dueWithin: 900, at: Self.now) == 2)
    let dead = ScriptedResponder { _ throws(OCSPFetchFailure) in throw .unreachable("no route") }
    let hard = RevocationChecker(policy: .required, fetcher: dead)
    for _ in 0..<3 { #expect(await hard.revocation(of: chain, at: Self.now).decision == .revocationUnknown) }
    #expect(dead.asked.withLock { $0 } == 2)
    let off = RevocationChecker(policy: .off, fetcher: dead)
    #expect(await off.revocation(of: chain, at: Self.now).decision == .accepted)
    #expect(off.known(of: chain, at: Self.now)?.decision == .accepted)
    #expect(hard.known(of: chain, at: Self.now)?.decision == .revocationUnknown)
  }

  @Test("when the caller that queries is cancelled, a waiting one takes the query over")
  func takeOver() async throws {
    let chain = try CertificateChainVerifier(roots: [root.certificate]).verifiedChain(x5c: x5c, at: Self.now)
    let below = made()
    let above = root.ocspResponse(about: middle.certificate, under: root.certificate)
    // The first query to each responder blocks until its task is cancelled; the others are answered.
    let hung = Mutex<Set<String>>([])
    let responder = ScriptedResponder { request throws(OCSPFetchFailure) in
      if hung.withLock({ $0.insert(request.responder).inserted }) {
        while !Task.isCancelled { await Task.yield() }
        throw .unreachable("torn down")
      }
      return request.responder.hasSuffix("root") ? above : below
    }
    let checker = RevocationChecker(policy: .required, fetcher: responder)
    let first = Task { await checker.revocation(of: chain, at: Self.now) }
    while responder.asked.withLock({ $0 }) < 2 { await Task.yield() }
    let impatient = Task { await checker.revocation(of: chain, at: Self.now) }
    let second = Task { await checker.revocation(of: chain, at: Self.now) }
    for _ in 0..<100 { await Task.yield() }
    // A waiting caller can be cancelled without an effect on others.
    impatient.cancel()
    #expect(await impatient.value.decision == .revocationUnknown)
    first.cancel()
    #expect(await first.value.leaf == .unanswered(.fetch(.cancelled)))
    #expect(await second.value.decision == .accepted)
    #expect(responder.asked.withLock { $0 } == 4)
  }

  @Test("a known intermediate is not verified again, and only certificates that it signed are accepted")
  func authorities() throws {
    let verifier = CertificateChainVerifier(roots: [root.certificate], cacheCapacity: 2)
    let first = try verifier.verify(x5c: x5c, at: Self.now)
    #expect(try verifier.verify(x5c: [x5c[0], x5c[1], "anything"], at: Self.now) === first)
    let second = try TestAuthority(.leaf, under: middle)
    let foreign = try TestAuthority(.leaf, under: try TestAuthority(.intermediate, under: root))
    _ = try verifier.verify(x5c: [Base64.encode(second.certificate.der), x5c[1], x5c[2]], at: Self.now)
    #expect(throws: ChainError.self) {
      try verifier.verify(x5c: [Base64.encode(foreign.certificate.der), x5c[1], x5c[2]], at: Self.now)
    }
    let short = try TestAuthority(.leaf, under: middle, notAfter: Self.now - 1)
    #expect(throws: ChainError.self) {
      try verifier.verify(x5c: [Base64.encode(short.certificate.der), x5c[1], x5c[2]], at: Self.now)
    }
    #expect(throws: ChainError.self) { try verifier.verify(x5c: x5c, at: Self.now + 86_401) }
    #expect(verifier.cachedAuthorities == 1 && verifier.cachedPaths == 2)
  }
}
