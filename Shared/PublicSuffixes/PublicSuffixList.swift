import CPSL

/// The public suffix list (publicsuffix.org): the domains under which registries, and operators such as `github.io`, assign names. It
/// determines the registrable domain of a host, which is its public suffix (eTLD+1) and one more label.
///
///     PublicSuffixList.builtIn?.registrableDomain(of: "shop.example.co.uk")   // "example.co.uk"
///
/// The list is immutable and shared between threads: `@unchecked Sendable` since libpsl only reads it.
public final class PublicSuffixList: @unchecked Sendable {
  private let raw: OpaquePointer
  private let isOwned: Bool

  private init(raw: OpaquePointer, isOwned: Bool) {
    self.raw = raw
    self.isOwned = isOwned
  }

  deinit { if isOwned { attribution_suffixes_free(raw) } }

  /// True if libpsl with version 5 of its interface is installed. Debian's libcurl depends on it.
  public static var isAvailable: Bool { attribution_suffixes_library() != 0 }

  /// The list that libpsl was built with; nil if it has none.
  public static let builtIn: PublicSuffixList? = attribution_suffixes_built_in().map { PublicSuffixList(raw: $0, isOwned: false) }

  /// Loads a list in the format of publicsuffix.org or of `psl-make-dafsa`; nil if the file is not one.
  public convenience init?(path: String) {
    guard let raw = attribution_suffixes_load(path) else { return nil }
    self.init(raw: raw, isOwned: true)
  }

  /// The registrable domain of a host; nil if the host is a public suffix or an IP address, or has other characters than lower-case ASCII
  /// letters, digits, hyphens and dots. Internationalised names are given in their `xn--` form. A top-level domain that is not in the
  /// list counts as a public suffix.
  public func registrableDomain(of host: String) -> String? {
    guard Self.isName(host) else { return nil }
    let start = host.withCString { attribution_suffixes_registrable(raw, $0) }
    return start < 0 ? nil : String(host.utf8.dropFirst(start))
  }

  /// True if a host is exactly a registrable domain.
  public func isRegistrable(_ host: String) -> Bool { registrableDomain(of: host)?.utf8.count == host.utf8.count }

  /// Checks the labels, because libpsl accepts any text, even with empty labels.
  private static func isName(_ host: String) -> Bool {
    guard host.utf8.count <= 253 else { return false }
    let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    // A host whose last label is a number is an IP address; no top-level domain is a number.
    guard let last = labels.last, !last.allSatisfy({ (48...57).contains($0) }) else { return false }
    return labels.allSatisfy { label in
      !label.isEmpty
        && label.allSatisfy { byte in (97...122).contains(byte) || (48...57).contains(byte) || byte == UInt8(ascii: "-") }
    }
  }
}
