import AppStore
import Cryptography
import ServiceRuntime

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension SignedDataVerifier {
  /// The verifier of a deployment, with its configured roots, or else Apple's, and its apps.
  static func configured(_ configuration: DeploymentConfiguration) throws(ConfigurationError) -> SignedDataVerifier {
    var roots: [Certificate] = []
    for path in configuration.rootCertificates {
      guard let bytes = FileManager.default.contents(atPath: path) else {
        throw ConfigurationError("appStore.rootCertificates", "\(path) cannot be read")
      }
      do throws(Certificate.Failure) { roots.append(try Certificate(derOrPEM: Array(bytes))) } catch {
        throw ConfigurationError("appStore.rootCertificates", "\(path) is not a certificate: \(error)")
      }
    }
    if roots.isEmpty { roots = [AppleRootCertificates.g3] }
    return SignedDataVerifier(
      chains: CertificateChainVerifier(roots: roots, strict: configuration.strictCertificates),
      apps: configuration.apps.map {
        KnownApp(bundleId: $0.bundleId, appAppleId: $0.appAppleId, environments: Set($0.environments))
      })
  }
}
