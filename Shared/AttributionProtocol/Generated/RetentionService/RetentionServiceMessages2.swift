// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/retention/v1/retention.proto`.
public struct UploadRetentionMessageRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox; required if the app has both.
  public var environment: String?
  /// A UUID that you choose; it identifies the message.
  public var messageIdentifier: String?
  /// Apple's UploadMessageRequestBody: header, body, image, headerPosition, bulletPoints.
  public var message: JSONObject?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    messageIdentifier: String? = nil,
    message: JSONObject? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.messageIdentifier = messageIdentifier
    self.message = message
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.messageIdentifier = nil
    self.message = nil
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
        case "messageIdentifier", "message_identifier":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          messageIdentifier = try reader.readString()
        case "message":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          message = try reader.readObjectValue()
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
    if let messageIdentifier {
      writer.key("messageIdentifier")
      writer.string(messageIdentifier)
    }
    if let message {
      writer.key("message")
      writer.object(message)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct UploadRetentionMessageResponse: RPCMessage, Hashable {
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
public struct DeleteRetentionMessageRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox; required if the app has both.
  public var environment: String?
  public var messageIdentifier: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    messageIdentifier: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.messageIdentifier = messageIdentifier
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.messageIdentifier = nil
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
        case "messageIdentifier", "message_identifier":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          messageIdentifier = try reader.readString()
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
    if let messageIdentifier {
      writer.key("messageIdentifier")
      writer.string(messageIdentifier)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct DeleteRetentionMessageResponse: RPCMessage, Hashable {
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
public struct ListRetentionMessagesRequest: RPCMessage, Hashable {
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

/// An uploaded message, and whether Apple approved it.
public struct RetentionMessage: RPCMessage, Hashable {
  /// In lower case.
  public var messageIdentifier: String
  /// PENDING, APPROVED or REJECTED; other values from Apple unchanged.
  public var messageState: String
  /// The images of the message and of its bullet points, in lower case. Known only of messages that were uploaded through this service, because
  /// Apple's list does not tell them.
  public var imageIdentifiers: [String]
  /// Those of the images that Apple has not approved. Apple does not show a message that has one.
  public var unapprovedImageIdentifiers: [String]

  public init(
    messageIdentifier: String = "",
    messageState: String = "",
    imageIdentifiers: [String] = [],
    unapprovedImageIdentifiers: [String] = []
  ) {
    self.messageIdentifier = messageIdentifier
    self.messageState = messageState
    self.imageIdentifiers = imageIdentifiers
    self.unapprovedImageIdentifiers = unapprovedImageIdentifiers
  }

  public init() {
    self.messageIdentifier = ""
    self.messageState = ""
    self.imageIdentifiers = []
    self.unapprovedImageIdentifiers = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "messageIdentifier", "message_identifier":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          messageIdentifier = try reader.readString()
        case "messageState", "message_state":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          messageState = try reader.readString()
        case "imageIdentifiers", "image_identifiers":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          imageIdentifiers = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "unapprovedImageIdentifiers", "unapproved_image_identifiers":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          unapprovedImageIdentifiers = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !messageIdentifier.isEmpty {
      writer.key("messageIdentifier")
      writer.string(messageIdentifier)
    }
    if !messageState.isEmpty {
      writer.key("messageState")
      writer.string(messageState)
    }
    if !imageIdentifiers.isEmpty {
      writer.key("imageIdentifiers")
      writer.beginArray()
      for element in imageIdentifiers { writer.string(element) }
      writer.endArray()
    }
    if !unapprovedImageIdentifiers.isEmpty {
      writer.key("unapprovedImageIdentifiers")
      writer.beginArray()
      for element in unapprovedImageIdentifiers { writer.string(element) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/retention.proto`.
public struct ListRetentionMessagesResponse: RPCMessage, Hashable {
  public var messages: [RetentionMessage]
  /// The environment that answered.
  public var environment: String

  public init(
    messages: [RetentionMessage] = [],
    environment: String = ""
  ) {
    self.messages = messages
    self.environment = environment
  }

  public init() {
    self.messages = []
    self.environment = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "messages":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          messages = try reader.readList { (reader) throws(JSONError) in try RetentionMessage(reading: &reader) }
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
    if !messages.isEmpty {
      writer.key("messages")
      writer.beginArray()
      for element in messages { element.write(to: &writer) }
      writer.endArray()
    }
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}
