import AttributionProtocol
import Cryptography
import ServiceRuntime

/// A requested signature. ``perform(_:)`` makes it together with others that were requested in the same turn of the event loop, which is
/// cheaper (`Documentation/decisions/0005-signatures-made-together.md`). ``signature()`` counts and records it.
final class PendingSignature: CoalescedWork, @unchecked Sendable {  // only one thread at a time uses it, as `CoalescedWork` promises
  private let issuer: SignatureIssuer
  private let identity: SigningIdentity
  private let method: SignatureMethod
  private let message: [UInt8]
  private let context: RPCContext
  private var outcome: Result<ECDSASignature, SignatureError> = .failure(.notMade("perform(_:) was not called"))

  init(issuer: SignatureIssuer, identity: SigningIdentity, method: SignatureMethod, message: [UInt8], context: RPCContext) {
    self.issuer = issuer
    self.identity = identity
    self.method = method
    self.message = message
    self.context = context
  }

  static func perform(_ works: [PendingSignature]) {
    let outcomes = BatchSigning.sign(works.map { SigningTask(message: $0.message, key: $0.identity.key) })
    for (work, outcome) in zip(works, outcomes) { work.outcome = outcome }
  }

  /// The signature, after it was counted and recorded. Call it once, after ``perform(_:)``.
  func signature() throws(RPCError) -> ECDSASignature {
    try Signing.signed { () throws(SignatureError) in
      let signature = try outcome.get()
      try issuer.record(method, identity, message: message, context)
      return signature
    }
  }
}
