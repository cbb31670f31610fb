// Made by Generator/generate.py from the contract; change the .proto file instead.

/// Sets up Apple's retention messaging: the calls of the Retention Messaging API, each for one app and environment. Served by
/// notification-recovery.
public enum RetentionService {
  /// The full RPC name.
  public static let name = "attribution.retention.v1.RetentionService"

  /// Every method, in the order of the contract.
  public static let methods: [any RPCMethod.Type] = [
    UploadRetentionImage.self,
    DeleteRetentionImage.self,
    ListRetentionImages.self,
    UploadRetentionMessage.self,
    DeleteRetentionMessage.self,
    ListRetentionMessages.self,
    SetDefaultRetentionMessage.self,
    GetDefaultRetentionMessage.self,
    DeleteDefaultRetentionMessage.self,
    SetRetentionURL.self,
    GetRetentionURL.self,
    DeleteRetentionURL.self,
    StartRetentionPerformanceTest.self,
    GetRetentionPerformanceTest.self,
  ]

  /// Apple: Upload Image. An identifier that already exists is refused with `already_exists`.
  public enum UploadRetentionImage: RPCMethod {
    public typealias Request = UploadRetentionImageRequest
    public typealias Response = UploadRetentionImageResponse
    public static let service = RetentionService.name
    public static let name = "UploadRetentionImage"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = true
  }

  /// Apple: Delete Image.
  public enum DeleteRetentionImage: RPCMethod {
    public typealias Request = DeleteRetentionImageRequest
    public typealias Response = DeleteRetentionImageResponse
    public static let service = RetentionService.name
    public static let name = "DeleteRetentionImage"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Get Image List.
  public enum ListRetentionImages: RPCMethod {
    public typealias Request = ListRetentionImagesRequest
    public typealias Response = ListRetentionImagesResponse
    public static let service = RetentionService.name
    public static let name = "ListRetentionImages"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Upload Message. An identifier that already exists is refused with `already_exists`.
  public enum UploadRetentionMessage: RPCMethod {
    public typealias Request = UploadRetentionMessageRequest
    public typealias Response = UploadRetentionMessageResponse
    public static let service = RetentionService.name
    public static let name = "UploadRetentionMessage"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Delete Message.
  public enum DeleteRetentionMessage: RPCMethod {
    public typealias Request = DeleteRetentionMessageRequest
    public typealias Response = DeleteRetentionMessageResponse
    public static let service = RetentionService.name
    public static let name = "DeleteRetentionMessage"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Get Message List. The App Store shows only approved messages.
  public enum ListRetentionMessages: RPCMethod {
    public typealias Request = ListRetentionMessagesRequest
    public typealias Response = ListRetentionMessagesResponse
    public static let service = RetentionService.name
    public static let name = "ListRetentionMessages"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Configure Default Message, for a product in a locale. Replaces the previous one.
  public enum SetDefaultRetentionMessage: RPCMethod {
    public typealias Request = SetDefaultRetentionMessageRequest
    public typealias Response = SetDefaultRetentionMessageResponse
    public static let service = RetentionService.name
    public static let name = "SetDefaultRetentionMessage"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Get Default Message.
  public enum GetDefaultRetentionMessage: RPCMethod {
    public typealias Request = GetDefaultRetentionMessageRequest
    public typealias Response = GetDefaultRetentionMessageResponse
    public static let service = RetentionService.name
    public static let name = "GetDefaultRetentionMessage"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Delete Default Message.
  public enum DeleteDefaultRetentionMessage: RPCMethod {
    public typealias Request = DeleteDefaultRetentionMessageRequest
    public typealias Response = DeleteDefaultRetentionMessageResponse
    public static let service = RetentionService.name
    public static let name = "DeleteDefaultRetentionMessage"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Configure Realtime URL. For production, Apple requires a passed performance test.
  public enum SetRetentionURL: RPCMethod {
    public typealias Request = SetRetentionURLRequest
    public typealias Response = SetRetentionURLResponse
    public static let service = RetentionService.name
    public static let name = "SetRetentionURL"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Get Realtime URL.
  public enum GetRetentionURL: RPCMethod {
    public typealias Request = GetRetentionURLRequest
    public typealias Response = GetRetentionURLResponse
    public static let service = RetentionService.name
    public static let name = "GetRetentionURL"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Delete Realtime URL.
  public enum DeleteRetentionURL: RPCMethod {
    public typealias Request = DeleteRetentionURLRequest
    public typealias Response = DeleteRetentionURLResponse
    public static let service = RetentionService.name
    public static let name = "DeleteRetentionURL"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Initiate Performance Test; sandbox only.
  public enum StartRetentionPerformanceTest: RPCMethod {
    public typealias Request = StartRetentionPerformanceTestRequest
    public typealias Response = StartRetentionPerformanceTestResponse
    public static let service = RetentionService.name
    public static let name = "StartRetentionPerformanceTest"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Get Performance Test Results; sandbox only.
  public enum GetRetentionPerformanceTest: RPCMethod {
    public typealias Request = GetRetentionPerformanceTestRequest
    public typealias Response = GetRetentionPerformanceTestResponse
    public static let service = RetentionService.name
    public static let name = "GetRetentionPerformanceTest"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }
}
