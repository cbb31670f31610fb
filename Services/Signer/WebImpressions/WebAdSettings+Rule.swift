import AppleAttribution
import ServiceRuntime

extension WebAdSettings {
  /// What the site's name of an impression must be.
  func signingRule() throws(ConfigurationError) -> SourceDomainRule {
    switch signing {
    case .registrable: .registrable(try suffixes())
    case .form: .form
    }
  }
}
