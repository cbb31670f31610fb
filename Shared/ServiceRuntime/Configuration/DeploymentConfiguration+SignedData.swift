public import AppStore
import Cryptography
public import Logging

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension DeploymentConfiguration {
  /// The configured apps, as ``SignedDataVerifier`` needs them.
  public var knownApps: [KnownApp] {
    apps.map { KnownApp(bundleId: $0.bundleId, appAppleId: $0.appAppleId, environments: Set($0.environments)) }
  }

  /// The verifier of the App Store's signed data, with the configured root certificates and apps.
  public func signedDataVerifier(_ logger: Logger) throws(ConfigurationError) -> SignedDataVerifier {
    var roots: [Certificate] = []
    for (index, path) in rootCertificates.enumerated() {
      let place = "appStore.rootCertificates[\(index)]"
      guard let bytes = FileManager.default.contents(atPath: path) else {
        throw ConfigurationError(place, "\(path) cannot be read")
      }
      let root: Certificate
      do throws(Certificate.Failure) { root = try Certificate(derOrPEM: Array(bytes)) } catch {
        throw ConfigurationError(place, "\(path) is not a certificate in DER or PEM")
      }
      guard root.isSelfSigned else { throw ConfigurationError(place, "\(path) is not a root certificate: it is not self-signed") }
      if !AppleRootCertificates.contain(root) {
        logger.warning("a root certificate that is not Apple's is trusted", metadata: ["place": "\(place)", "path": "\(path)"])
      }
      roots.append(root)
    }
    if roots.isEmpty { roots = [AppleRootCertificates.g3] }
    if acceptsXcodeData,
      apps.allSatisfy({ KnownApp.unsignedEnvironments.isDisjoint(with: $0.environments) })
    {
      logger.warning(
        "data made by Xcode is accepted, but no app has the environment Xcode or LocalTesting",
        metadata: ["place": "appStore.acceptsXcodeData"])
    }
    return SignedDataVerifier(
      chains: CertificateChainVerifier(roots: roots, strict: strictCertificates),
      apps: knownApps, acceptsXcodeData: acceptsXcodeData,
      // A notification that ingest accepts is never too long, and what Apple's API returns is not shortened by a lower limit for the public.
      maxBytes: max(limits.publicBodyBytes, SignedDataVerifier.defaultMaxBytes))
  }
}
