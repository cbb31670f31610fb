import AttributionProtocol
import Cryptography
import ServiceRuntime

/// A requested signature. It is made together with others that were requested at the same time, and counted and recorded when it is
/// returned.
final class PendingSignature: CoalescedWork, @unchecked Sendable {  // one thread after the other uses it, as the protocol says
  private let issuer: SignatureIssuer
  private let identity: SigningIdentity
  private let method: SignatureMethod
  private let message: [UInt8]
  private let context: RPCContext
  private var outcome: Result<ECDSASignature, SignatureError> = .failure(.notMade("not asked for"))

  init(issuer: SignatureIssuer, identity: SigningIdentity, method: SignatureMethod, message: [UInt8], context: RPCContext) {
    self.issuer = issuer
    self.identity = identity
    self.method = method
    self.message = message
    self.context = context
  }

  static func perform(_ works: [PendingSignature]) {
    let made = BatchSigning.sign(works.map { SigningTask(message: $0.message, key: $0.identity.key) })
    for (work, signature) in zip(works, made) { work.outcome = signature }
  }

  func signature() throws(RPCError) -> ECDSASignature {
    try Signing.signed { () throws(SignatureError) in
      let signature = try outcome.get()
      try issuer.record(method, identity, message: message, context)
      return signature
    }
  }
}
