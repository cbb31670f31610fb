import CPSL

/// The public suffix list (publicsuffix.org): domains under which registries assign names, such as `co.uk`, or the domain's owner does,
/// such as `github.io`. The list determines the registrable domain of a host (eTLD+1): its public suffix and one more label.
///
/// ```swift
/// PublicSuffixList.builtIn?.registrableDomain(of: "shop.example.co.uk")  // "example.co.uk"
/// ```
///
/// It is `@unchecked Sendable`, because libpsl only reads the list, so threads may share it.
public final class PublicSuffixList: @unchecked Sendable {
  private let raw: OpaquePointer
  private let isOwned: Bool

  private init(raw: OpaquePointer, isOwned: Bool) {
    self.raw = raw
    self.isOwned = isOwned
  }

  deinit { if isOwned { attribution_suffixes_free(raw) } }

  /// True if libpsl is installed with version 5 of its interface (`libpsl.so.5`). Debian's libcurl depends on it.
  public static var isAvailable: Bool { attribution_suffixes_library() != 0 }

  /// The list that libpsl was built with; nil if libpsl is not installed or was built without one.
  public static let builtIn: PublicSuffixList? = attribution_suffixes_built_in().map { PublicSuffixList(raw: $0, isOwned: false) }

  /// Loads a list in the format of publicsuffix.org or of `psl-make-dafsa`. Nil if libpsl is not installed, the file cannot be read, or the
  /// list lacks the suffix `com`.
  public convenience init?(path: String) {
    guard let raw = attribution_suffixes_load(path) else { return nil }
    self.init(raw: raw, isOwned: true)
  }

  /// The registrable domain of a host. Nil if the host is a public suffix or an IP address, is longer than 253 bytes, has an empty label,
  /// or has other characters than lower-case ASCII letters, digits, hyphens and dots. An internationalised name must be in its `xn--` form.
  /// A top-level domain that is not in the list counts as a public suffix.
  public func registrableDomain(of host: String) -> String? {
    guard Self.isName(host) else { return nil }
    let start = host.withCString { attribution_suffixes_registrable(raw, $0) }
    return start < 0 ? nil : String(host.utf8.dropFirst(start))
  }

  /// True if a host is exactly a registrable domain.
  public func isRegistrable(_ host: String) -> Bool { registrableDomain(of: host)?.utf8.count == host.utf8.count }

  /// True if the text may be a host's name. libpsl does not check this: it accepts any text.
  private static func isName(_ host: String) -> Bool {
    // The longest name of the DNS.
    guard host.utf8.count <= 253 else { return false }
    let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    // A host whose last label is a number is an IPv4 address, because no top-level domain is a number.
    guard let last = labels.last, !last.allSatisfy({ (48...57).contains($0) }) else { return false }
    return labels.allSatisfy { label in
      !label.isEmpty
        && label.allSatisfy { byte in (97...122).contains(byte) || (48...57).contains(byte) || byte == UInt8(ascii: "-") }
    }
  }
}
