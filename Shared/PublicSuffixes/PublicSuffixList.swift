import CPSL

/// The public suffix list: under which names domains are registered (publicsuffix.org). It tells the registrable domain of a host, which
/// is one label more than its public suffix (eTLD+1), by the rules of registries and of those who give out names below their own, such
/// as `github.io`.
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

  /// Whether libpsl is on this machine, at least in version 5 of its interface. Wherever Debian's libcurl is, it is too.
  public static var isAvailable: Bool { attribution_suffixes_library() != 0 }

  /// The list that libpsl was built with: as old as that is. Nil where it has none.
  public static let builtIn: PublicSuffixList? = attribution_suffixes_built_in().map { PublicSuffixList(raw: $0, isOwned: false) }

  /// A newer list, as publicsuffix.org publishes it or as `psl-make-dafsa` packs it; nil when the file is none.
  public convenience init?(path: String) {
    guard let raw = attribution_suffixes_load(path) else { return nil }
    self.init(raw: raw, isOwned: true)
  }

  /// The registrable domain that a host lies in; nil when the host is a public suffix itself, or no name of ASCII letters in lower case,
  /// digits, hyphens and dots, or an address such as `192.0.2.1`. Names beyond ASCII are asked for in their `xn--` form. A name under a top-level domain that the list does
  /// not know is registered one label below that.
  public func registrableDomain(of host: String) -> String? {
    guard Self.isName(host) else { return nil }
    let start = host.withCString { attribution_suffixes_registrable(raw, $0) }
    return start < 0 ? nil : String(host.utf8.dropFirst(start))
  }

  /// Whether a host is a registrable domain, neither more nor less.
  public func isRegistrable(_ host: String) -> Bool { registrableDomain(of: host)?.utf8.count == host.utf8.count }

  /// libpsl takes whatever it is given apart at its dots, an empty label included.
  private static func isName(_ host: String) -> Bool {
    guard host.utf8.count <= 253 else { return false }
    let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    // What ends in a number is an address; no top-level domain is one.
    guard let last = labels.last, !last.allSatisfy({ (48...57).contains($0) }) else { return false }
    return labels.allSatisfy { label in
      !label.isEmpty
        && label.allSatisfy { byte in (97...122).contains(byte) || (48...57).contains(byte) || byte == UInt8(ascii: "-") }
    }
  }
}
