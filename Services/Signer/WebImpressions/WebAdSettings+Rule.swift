import AppleAttribution
import ServiceRuntime

extension WebAdSettings {
  /// The rule for the site's name of an impression.
  func signingRule() throws(ConfigurationError) -> SourceDomainRule {
    switch signing {
    case .registrable: .registrable(try suffixes())
    case .form: .form
    }
  }
}
