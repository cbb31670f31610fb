import Cryptography

/// An image for retention messages (Retention Messaging API: Upload Image): a PNG file without transparency, of one of two sizes.
public struct RetentionImageFile: Sendable, Hashable {
  public enum Size: String, Sendable, CaseIterable {
    case full = "FULL_SIZE"
    case bulletPoint = "BULLET_POINT"
  }

  /// Nil if the caller named none. Apple then expects full size.
  public let size: Size?
  public let bytes: [UInt8]

  /// Decodes and checks an image. Throws ``RequestRefusal`` with the field.
  public init(base64 text: String?, size name: String?) throws(RequestRefusal) {
    size = try name.map { name throws(RequestRefusal) in
      guard let size = Size(rawValue: name) else { throw RequestRefusal(field: "imageSize", "must be FULL_SIZE or BULLET_POINT") }
      return size
    }
    guard let text, !text.isEmpty else { throw RequestRefusal(field: "image", "is missing") }
    guard let bytes = Base64.decode(text) else { throw RequestRefusal(field: "image", "must be base64") }
    self.bytes = bytes
    let image = try PNGHeader(bytes)
    guard !image.hasTransparency else {
      throw RequestRefusal(field: "image", "must not have transparency: neither an alpha channel nor transparent colours")
    }
    switch size ?? .full {
    case .full:
      guard image.width == 3840, (160...2160).contains(image.height) else {
        throw RequestRefusal(field: "image", "must be 3840 pixels wide and 160 to 2160 high, but is \(image.width) by \(image.height)")
      }
    case .bulletPoint:
      guard image.width == 1024, image.height == 1024 else {
        throw RequestRefusal(field: "image", "must be 1024 by 1024 pixels for a bullet point, but is \(image.width) by \(image.height)")
      }
    }
  }
}
