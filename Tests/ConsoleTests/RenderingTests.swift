import Mustache
import Testing

@testable import Console

@Suite struct RenderingTests {
  private static let hostile = #"<script>alert("x")</script>'&"#

  /// A value that has a member for every name, each of which is such a value too. It is rendered as hostile text.
  private struct Hostile: MustacheParent, CustomStringConvertible {
    /// The names of absent sections.
    let absent: Set<String>

    func child(named: String) -> Any? { absent.contains(named) ? nil : Hostile(absent: absent) }
    var description: String { RenderingTests.hostile }
  }

  private static let pages = Templates.sources.map(\.0)

  @Test(arguments: pages)
  func `Every template escapes its values`(name: String) throws {
    let templates = try Templates()
    // Once with every section, once with the text that replaces absent sections.
    for absent in [
      [], ["hasData", "hasItems", "hasLink", "hasMore", "isEmpty", "notice", "hasAny", "hasNoGaps", "gapsNotice", "signs", "hasDead"],
    ] {
      let html = String(decoding: templates.page(name, Hostile(absent: Set(absent))), as: UTF8.self)
      #expect(!html.isEmpty && !html.contains("<script>") && !html.contains(#""x""#), "\(name): \(html)")
      if name != "layout" || absent.isEmpty { #expect(html.contains("&lt;script&gt;"), "\(name)") }
    }
  }

  @Test(arguments: pages)
  func `No template has an unescaped tag, an inline style, an inline handler or a script`(name: String) throws {
    let source = String(decoding: try #require(Templates.sources.first { $0.0 == name }).1, as: UTF8.self)
    for forbidden in ["{{{", "{{&", "{{%", "style=", "javascript:", "<style", "//"] {
      #expect(!source.contains(forbidden), "\(name) has \(forbidden)")
    }
    for event in ["onclick", "onload", "onerror", "onsubmit", "onmouseover", "onfocus"] { #expect(!source.contains(event), "\(name)") }
    #expect(source.ranges(of: "<script").count == (name == "layout" ? 1 : 0))
  }

  @Test func `A value of an attribute cannot end the attribute`() throws {
    let template = try MustacheTemplate(string: #"<a href="{{x}}" title='{{x}}'>"#)
    let html = template.render(["x": #"" onclick="y" '>"#])
    #expect(html.ranges(of: "\"").count == 2 && html.ranges(of: "'").count == 2 && html.ranges(of: ">").count == 1)
  }

  @Test func `Browsers may run only our own script, and may not show the pages in frames`() {
    let headers = ConsoleHeaders.page(200, []).headers
    let rules = Set((headers.first(name: "content-security-policy") ?? "").split(separator: ";").map { $0.drop { $0 == " " } })
    #expect(
      rules.isSuperset(of: [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'",
      ]))
    #expect(!ConsoleHeaders.policy.contains("unsafe") && !ConsoleHeaders.policy.contains("*"))
    #expect(headers.first(name: "cache-control") == "no-store" && headers.first(name: "x-content-type-options") == "nosniff")
    #expect(ConsoleHeaders.redirect(to: "/console").headers.contains(name: "content-security-policy"))
  }
}
