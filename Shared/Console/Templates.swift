import Mustache

/// The templates of the pages (`Assets`), which render the types in `Pages` as HTML. All values are escaped, because no template has an
/// unescaped tag; `RenderingTests` checks that.
struct Templates: Sendable {
  private let library: MustacheLibrary

  /// Throws if a template cannot be read, which is an error of the build.
  init() throws {
    var templates: [String: MustacheTemplate] = [:]
    for (name, bytes) in Self.sources { templates[name] = try MustacheTemplate(string: String(decoding: bytes, as: UTF8.self)) }
    library = MustacheLibrary(templates: templates)
  }

  /// A page as HTML.
  ///
  /// - Parameters:
  ///   - name: the template's name.
  ///   - model: the value whose properties the tags of the template name.
  func page(_ name: String, _ model: some Any) -> [UInt8] { Array((library.render(model, withTemplate: name) ?? "").utf8) }

  static let sources: [(String, [UInt8])] = [
    ("layout", PackageResources.layout_mustache), ("overview", PackageResources.overview_mustache),
    ("deliveries", PackageResources.deliveries_mustache), ("values", PackageResources.values_mustache),
    ("queues", PackageResources.queues_mustache), ("dead-letters", PackageResources.dead_letters_mustache),
    ("dead-letter", PackageResources.dead_letter_mustache), ("feed", PackageResources.feed_mustache),
    ("app-store", PackageResources.app_store_mustache), ("recovery", PackageResources.recovery_mustache),
    ("keys", PackageResources.keys_mustache), ("sign-in", PackageResources.sign_in_mustache),
    ("message", PackageResources.message_mustache), ("figures", PackageResources.figures_mustache),
    ("plot", PackageResources.plot_mustache), ("bars", PackageResources.bars_mustache), ("notice", PackageResources.notice_mustache),
    ("moment", PackageResources.moment_mustache), ("ago", PackageResources.ago_mustache), ("tabs", PackageResources.tabs_mustache),
    ("job", PackageResources.job_mustache),
  ]
}
