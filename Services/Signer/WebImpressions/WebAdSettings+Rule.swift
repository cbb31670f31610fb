import AppleAttribution
import ServiceRuntime

extension WebAdSettings {
  /// The rule for `sourceDomain`, the site that shows a web ad: whether only its format is checked, or also that it is a registrable domain
  /// of the public suffix list.
  func signingRule() throws(ConfigurationError) -> SourceDomainRule {
    switch signing {
    case .registrable: .registrable(try suffixes())
    case .form: .form
    }
  }
}
