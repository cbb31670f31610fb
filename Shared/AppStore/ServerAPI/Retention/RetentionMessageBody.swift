public import WireJSON

/// The text of a retention message (Retention Messaging API: Upload Message, UploadMessageRequestBody).
public struct RetentionMessageBody: Sendable, Hashable {
  static let longestHeader = 66
  static let longestBody = 144
  static let longestAltText = 150
  static let longestBulletText = 66
  static let mostBulletPoints = 5

  /// The body for Apple.
  public let body: JSONObject
  /// The images of the message and of its bullet points, in lower case, each once.
  public let imageIdentifiers: [String]

  public init(_ body: JSONObject) throws(RequestRefusal) {
    let fields = RequestFields(body)
    _ = try fields.neededText("header", most: Self.longestHeader)
    _ = try fields.neededText("body", most: Self.longestBody)
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
      guard points.count <= Self.mostBulletPoints else {
        throw fields.refusal("bulletPoints", "has more than \(Self.mostBulletPoints) items")
      }
      for point in points {
        _ = try point.neededText("text", most: Self.longestBulletText)
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
    _ = try image.neededText("altText", most: longestAltText)
    return id.lowercased()
  }
}
