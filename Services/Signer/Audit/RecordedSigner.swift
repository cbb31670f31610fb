import AttributionProtocol
import Cryptography
import ServiceRuntime

/// What all handlers need for signing: the keys, the clock and the audit log. Every signature must pass ``record(_:_:message:_:)`` before
/// it is returned: ``PendingSignature`` and ``RecordedSigner`` see to that.
final class SignatureIssuer: Sendable {
  let keys: LiveKeyring
  /// Nil if no audit file is configured.
  let audit: AuditLog?
  let metrics: MetricsRegistry
  /// Milliseconds since 1970.
  let now: @Sendable () -> Int64

  init(keys: LiveKeyring, audit: AuditLog?, metrics: MetricsRegistry, now: @escaping @Sendable () -> Int64) {
    self.keys = keys
    self.audit = audit
    self.metrics = metrics
    self.now = now
  }

  var keyring: Keyring { keys.current }

  /// Counts and records a signature. If this throws, the signature must not be returned.
  func record(_ method: SignatureMethod, _ identity: SigningIdentity, message: [UInt8], _ context: RPCContext) throws(SignatureError) {
    if let audit {
      do throws(SignatureError) {
        try audit.record(method, identity, message: message, context: context, now: now())
      } catch {
        metrics.add(SigningMetrics.auditFailures)
        context.logger.error("a signature is not returned, because it could not be recorded", metadata: ["reason": "\(error)"])
        throw error
      }
    }
    identity.count(method)
  }

  /// A signer that counts and records each signature.
  func signer(_ identity: SigningIdentity, _ method: SignatureMethod, _ context: RPCContext) -> RecordedSigner {
    RecordedSigner(issuer: self, identity: identity, method: method, context: context)
  }
}

/// A signer whose signatures are counted and recorded.
struct RecordedSigner: MessageSigner {
  fileprivate let issuer: SignatureIssuer
  fileprivate let identity: SigningIdentity
  fileprivate let method: SignatureMethod
  fileprivate let context: RPCContext

  func signDER(_ message: [UInt8]) throws(SignatureError) -> [UInt8] {
    let signature = try identity.key.signDER(message)
    try issuer.record(method, identity, message: message, context)
    return signature
  }
}
