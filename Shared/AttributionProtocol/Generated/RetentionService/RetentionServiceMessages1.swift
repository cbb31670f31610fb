// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/retention/v1/retention.proto`.
public struct UploadRetentionImageRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox; required if the app has both.
  public var environment: String?
  /// A UUID that you choose; it identifies the image.
  public var imageIdentifier: String?
  /// FULL_SIZE (3840 pixels wide, 160 to 2160 high; the default) or BULLET_POINT (1024 by 1024 pixels).
  public var imageSize: String?
  /// A PNG file without transparency, in Base64.
  public var image: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    imageIdentifier: String? = nil,
    imageSize: String? = nil,
    image: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.imageIdentifier = imageIdentifier
    self.imageSize = imageSize
    self.image = image
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.imageIdentifier = nil
    self.imageSize = nil
    self.image = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "bundleId", "bundle_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "imageIdentifier", "image_identifier":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          imageIdentifier = try reader.readString()
        case "imageSize", "image_size":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          imageSize = try reader.readString()
        case "image":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          image = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    if let imageIdentifier {
      writer.key("imageIdentifier")
      writer.string(imageIdentifier)
    }
    if let imageSize {
      writer.key("imageSize")
      writer.string(imageSize)
    }
    if let image {
      writer.key("image")
      writer.string(image)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct UploadRetentionImageResponse: RPCMessage, Hashable {
  /// The environment that answered.
  public var environment: String

  public init(
    environment: String = ""
  ) {
    self.environment = environment
  }

  public init() {
    self.environment = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "environment":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct DeleteRetentionImageRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox; required if the app has both.
  public var environment: String?
  public var imageIdentifier: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    imageIdentifier: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.imageIdentifier = imageIdentifier
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.imageIdentifier = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "bundleId", "bundle_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "imageIdentifier", "image_identifier":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          imageIdentifier = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    if let imageIdentifier {
      writer.key("imageIdentifier")
      writer.string(imageIdentifier)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct DeleteRetentionImageResponse: RPCMessage, Hashable {
  /// The environment that answered.
  public var environment: String

  public init(
    environment: String = ""
  ) {
    self.environment = environment
  }

  public init() {
    self.environment = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "environment":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct ListRetentionImagesRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox; required if the app has both.
  public var environment: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "bundleId", "bundle_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct RetentionImage: RPCMessage, Hashable {
  /// In lower case.
  public var imageIdentifier: String
  /// PENDING, APPROVED or REJECTED; other values from Apple unchanged.
  public var imageState: String
  /// FULL_SIZE or BULLET_POINT; empty if Apple does not return it.
  public var imageSize: String

  public init(
    imageIdentifier: String = "",
    imageState: String = "",
    imageSize: String = ""
  ) {
    self.imageIdentifier = imageIdentifier
    self.imageState = imageState
    self.imageSize = imageSize
  }

  public init() {
    self.imageIdentifier = ""
    self.imageState = ""
    self.imageSize = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "imageIdentifier", "image_identifier":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          imageIdentifier = try reader.readString()
        case "imageState", "image_state":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          imageState = try reader.readString()
        case "imageSize", "image_size":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          imageSize = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !imageIdentifier.isEmpty {
      writer.key("imageIdentifier")
      writer.string(imageIdentifier)
    }
    if !imageState.isEmpty {
      writer.key("imageState")
      writer.string(imageState)
    }
    if !imageSize.isEmpty {
      writer.key("imageSize")
      writer.string(imageSize)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct ListRetentionImagesResponse: RPCMessage, Hashable {
  public var images: [RetentionImage]
  /// The environment that answered.
  public var environment: String

  public init(
    images: [RetentionImage] = [],
    environment: String = ""
  ) {
    self.images = images
    self.environment = environment
  }

  public init() {
    self.images = []
    self.environment = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "images":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          images = try reader.readList { (reader) throws(JSONError) in try RetentionImage(reading: &reader) }
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !images.isEmpty {
      writer.key("images")
      writer.beginArray()
      for element in images { element.write(to: &writer) }
      writer.endArray()
    }
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}
