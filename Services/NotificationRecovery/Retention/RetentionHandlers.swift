import RedisClient
import ServiceRuntime

/// The handlers of all methods of `RetentionService`.
enum RetentionHandlers {
  static func all(_ calls: AppStoreCalls, redis: RedisClient) -> [any RPCHandler] {
    let calls = RetentionCalls(calls: calls)
    let images = MessageImages(redis: redis)
    return [
      UploadRetentionImageHandler(calls: calls), DeleteRetentionImageHandler(calls: calls), ListRetentionImagesHandler(calls: calls),
      UploadRetentionMessageHandler(calls: calls, images: images), DeleteRetentionMessageHandler(calls: calls, images: images),
      ListRetentionMessagesHandler(calls: calls, images: images),
      SetDefaultRetentionMessageHandler(calls: calls), GetDefaultRetentionMessageHandler(calls: calls),
      DeleteDefaultRetentionMessageHandler(calls: calls), SetRetentionURLHandler(calls: calls), GetRetentionURLHandler(calls: calls),
      DeleteRetentionURLHandler(calls: calls), StartRetentionPerformanceTestHandler(calls: calls),
      GetRetentionPerformanceTestHandler(calls: calls),
    ]
  }
}
