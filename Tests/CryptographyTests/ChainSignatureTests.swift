import COpenSSL
import Foundation
import TestSupport
import Testing

@testable import Cryptography

/// The tables have the same verdicts on signatures as OpenSSL's own path check.
@Suite("Signatures of a chain") struct ChainSignatureTests {
  private static func x5c(_ leaf: Certificate, _ middle: TestAuthority, _ root: TestAuthority) -> [String] {
    [leaf.der, middle.certificate.der, root.certificate.der].map { Base64.encode($0) }
  }

  private static func accepts(_ verifier: CertificateChainVerifier, _ chain: [String]) -> Bool {
    (try? verifier.verify(x5c: chain, at: TestAuthority.now)) != nil
  }

  /// The certificate with one changed bit in one byte.
  private static func damaged(_ certificate: Certificate, at place: Int) -> Certificate? {
    var der = certificate.der
    der[place] ^= 1
    return try? Certificate(der: der)
  }

  @Test("a key with precomputed tables verifies certificates like OpenSSL", arguments: [256, 384, 512])
  func learned(bits: Int) throws {
    let digest = [256: EVP_sha256(), 384: EVP_sha384(), 512: EVP_sha512()][bits]!
    let root = try TestAuthority(.root)
    let other = try TestAuthority(.root)
    let middle = try TestAuthority(.intermediate, under: root, digest: digest)
    let key = ChainKey(try root.certificate.publicKey())
    let stranger = ChainKey(try other.certificate.publicKey())
    key.prepare()
    stranger.prepare()
    #expect(key.isPrepared && stranger.isPrepared)
    let signed = try #require(CertificateSignature(of: middle.certificate, curve: .p384))
    #expect(signed.digest.count == bits / 8)
    // The tables are used directly, so that OpenSSL cannot answer in their place.
    #expect(PreparedPublicKey(key.key).verifies(signed.signature, digest: signed.digest))
    #expect(key.signed(middle.certificate))
    #expect(!stranger.signed(middle.certificate))
    var refused = 0
    for place in stride(from: 4, to: middle.certificate.der.count, by: 5) {
      guard let wrong = Self.damaged(middle.certificate, at: place) else { continue }
      #expect(!key.signed(wrong), "byte \(place)")
      #expect(!wrong.isSigned(by: key.key.raw), "byte \(place)")
      refused += 1
    }
    #expect(refused > 50)
  }

  @Test("chains get the same verdict before and after their authorities have tables")
  func chains() async throws {
    let root = try TestAuthority(.root)
    let middle = try TestAuthority(.intermediate, under: root)
    let forger = try TestAuthority(.intermediate, under: try TestAuthority(.root))
    let verifier = CertificateChainVerifier(roots: [root.certificate])
    for round in 0..<ChainKey.usesBeforeTables(.p384) + 20 {
      let leaf = try TestAuthority(.leaf, under: middle)
      #expect(Self.accepts(verifier, Self.x5c(leaf.certificate, middle, root)))
      if round % 10 == 0 {
        let wrong = try #require(Self.damaged(leaf.certificate, at: leaf.certificate.der.count - 1))
        #expect(!Self.accepts(verifier, Self.x5c(wrong, middle, root)))
        // Its issuer is the intermediate, but another key has signed it.
        let forged = try TestAuthority(.leaf, under: middle, signedBy: forger)
        #expect(!Self.accepts(verifier, Self.x5c(forged.certificate, middle, root)))
      }
    }
  }

  @Test("chains with new authorities get the same verdict once the root has tables")
  func roots() async throws {
    let root = try TestAuthority(.root)
    let stranger = try TestAuthority(.root)
    let verifier = CertificateChainVerifier(roots: [root.certificate])
    for round in 0..<ChainKey.usesBeforeTables(.p384) + 30 {
      let middle = try TestAuthority(.intermediate, under: root)
      let leaf = try TestAuthority(.leaf, under: middle)
      #expect(Self.accepts(verifier, Self.x5c(leaf.certificate, middle, root)))
      if round % 10 == 0 {
        let forged = try TestAuthority(.intermediate, under: root, signedBy: stranger)
        let below = try TestAuthority(.leaf, under: forged)
        #expect(!Self.accepts(verifier, Self.x5c(below.certificate, forged, root)))
      }
    }
  }

  @Test("a certificate that may not sign certificates is not accepted as an issuer")
  func usage() throws {
    let root = try TestAuthority(.root)
    let middle = try TestAuthority(.intermediate, under: root, mayCertify: false)
    let leaf = try TestAuthority(.leaf, under: middle)
    let verifier = CertificateChainVerifier(roots: [root.certificate])
    #expect(throws: ChainError.self) {
      try verifier.verify(x5c: Self.x5c(leaf.certificate, middle, root), at: TestAuthority.now)
    }
  }
}

@Suite("The cache of recently used values") struct LeastRecentlyUsedCacheTests {
  /// The expected content of the cache, by a simple implementation.
  private struct Model {
    var capacity: Int
    var order: [Int] = []
    mutating func use(_ key: Int) {
      guard let place = order.firstIndex(of: key) else { return }
      order.append(order.remove(at: place))
    }
    mutating func keep(_ key: Int) {
      guard capacity > 0 else { return }
      if let place = order.firstIndex(of: key) { order.remove(at: place) } else if order.count >= capacity { order.removeFirst() }
      order.append(key)
    }
  }

  @Test("it contains the most recently used values after any operations", arguments: [0, 1, 2, 7, 64])
  func model(capacity: Int) {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededRandom(seed: seed)
    var table = LeastRecentlyUsedCache<Int, Int>(capacity: capacity)
    var model = Model(capacity: capacity)
    for step in 0..<4000 {
      let key = Int.random(in: 0..<capacity * 2 + 2, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        #expect(table.use(key) == (model.order.contains(key) ? key : nil), "seed \(seed), step \(step)")
        model.use(key)
      case 5:
        table.forget(key)
        model.order.removeAll { $0 == key }
      default:
        table.keep(key, for: key)
        model.keep(key)
      }
      #expect(table.keys.sorted() == model.order.sorted(), "seed \(seed), step \(step)")
    }
  }
}
