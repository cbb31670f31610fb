import Cryptography
import Synchronization

/// Decides who may read `/metrics`: callers with one of the tokens of `metrics.tokenSHA256`, or everyone if there is none. It has only the
/// digests of the tokens.
final class MetricsAccess: Sendable {
  private let digests: Mutex<[[UInt8]]>

  init(_ settings: MetricsSettings) { digests = Mutex(settings.tokenDigests) }

  /// Applies the settings of a reloaded configuration.
  func replace(by settings: MetricsSettings) { digests.withLock { $0 = settings.tokenDigests } }

  /// True if no token is required, or if the `Authorization` header has one of the tokens.
  func admits(authorization: String?) -> Bool {
    let digests = digests.withLock { $0 }
    guard !digests.isEmpty else { return true }
    guard let authorization, let token = BearerToken.bytes(authorization) else { return false }
    return ConstantTime.index(of: SHA256Digest.hash(token), in: digests) != nil
  }
}
