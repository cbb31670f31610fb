public import WireJSON

/// The text of a retention message (Retention Messaging API: Upload Message, UploadMessageRequestBody).
public struct RetentionMessageBody: Sendable, Hashable {
  static let maxHeaderLength = 66
  static let maxBodyLength = 144
  static let maxAltTextLength = 150
  static let maxBulletTextLength = 66
  static let maxBulletPoints = 5

  /// The body for Apple.
  public let body: JSONObject
  /// The images of the message and of its bullet points, in lower case, each once.
  public let imageIdentifiers: [String]

  public init(_ body: JSONObject) throws(RequestRefusal) {
    let fields = RequestFields(body)
    _ = try fields.neededText("header", maxLength: Self.maxHeaderLength)
    _ = try fields.neededText("body", maxLength: Self.maxBodyLength)
    var images: [String] = []
    let image = try fields.child("image")
    if let image {
      images.append(try Self.checkedImage(image))
      try image.allow(["imageIdentifier", "altText"])
    }
    if try fields.choice("headerPosition", ["ABOVE_BODY", "ABOVE_IMAGE"]) == "ABOVE_IMAGE", image == nil {
      throw fields.refusal("headerPosition", "must not be ABOVE_IMAGE where there is no image")
    }
    if let points = try fields.children("bulletPoints") {
      guard points.count <= Self.maxBulletPoints else {
        throw fields.refusal("bulletPoints", "has more than \(Self.maxBulletPoints) items")
      }
      for point in points {
        _ = try point.neededText("text", maxLength: Self.maxBulletTextLength)
        images.append(try Self.checkedImage(point))
        try point.allow(["text", "imageIdentifier", "altText"])
      }
    }
    try fields.allow(["header", "body", "image", "headerPosition", "bulletPoints"])
    self.body = body
    imageIdentifiers = Set(images).sorted()
  }

  private static func checkedImage(_ image: RequestFields) throws(RequestRefusal) -> String {
    let id = try image.neededUUID("imageIdentifier")
    _ = try image.neededText("altText", maxLength: maxAltTextLength)
    return id.lowercased()
  }
}
