public import WireJSON

/// The text of a retention message (Retention Messaging API: Upload Message, UploadMessageRequestBody).
public struct RetentionMessageBody: Sendable, Hashable {
  // Apple's limits: lengths in characters, and the number of bullet points.
  static let maxHeaderLength = 66
  static let maxBodyLength = 144
  static let maxAltTextLength = 150
  static let maxBulletTextLength = 66
  static let maxBulletPoints = 5

  /// The body as it is sent to Apple.
  public let body: JSONObject
  /// The identifiers of the images of the message and of its bullet points, in lower case, sorted, without duplicates.
  public let imageIdentifiers: [String]

  /// Checks a body. Throws ``RequestRefusal`` with the field.
  public init(_ body: JSONObject) throws(RequestRefusal) {
    let fields = RequestFields(body)
    _ = try fields.requiredText("header", maxLength: Self.maxHeaderLength)
    _ = try fields.requiredText("body", maxLength: Self.maxBodyLength)
    var images: [String] = []
    let image = try fields.child("image")
    if let image {
      images.append(try Self.checkedImage(image))
      try image.allow(["imageIdentifier", "altText"])
    }
    if try fields.choice("headerPosition", ["ABOVE_BODY", "ABOVE_IMAGE"]) == "ABOVE_IMAGE", image == nil {
      throw fields.refusal("headerPosition", "must not be ABOVE_IMAGE without an image")
    }
    if let points = try fields.children("bulletPoints") {
      guard points.count <= Self.maxBulletPoints else {
        throw fields.refusal("bulletPoints", "has more than \(Self.maxBulletPoints) items")
      }
      for point in points {
        _ = try point.requiredText("text", maxLength: Self.maxBulletTextLength)
        images.append(try Self.checkedImage(point))
        try point.allow(["text", "imageIdentifier", "altText"])
      }
    }
    try fields.allow(["header", "body", "image", "headerPosition", "bulletPoints"])
    self.body = body
    imageIdentifiers = Set(images).sorted()
  }

  private static func checkedImage(_ image: RequestFields) throws(RequestRefusal) -> String {
    let id = try image.requiredUUID("imageIdentifier")
    _ = try image.requiredText("altText", maxLength: maxAltTextLength)
    return id.lowercased()
  }
}
