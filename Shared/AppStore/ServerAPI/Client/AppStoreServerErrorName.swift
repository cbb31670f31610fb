/// The names of Apple's error codes in its documentation, without their ending `Error`. The App Store Server API, the Retention Messaging
/// API and the Advanced Commerce API share one range of numbers.
public enum AppStoreServerErrorName {
  /// The name of an error code; nil if this version does not know it. An unknown code is passed on with Apple's message
  /// (``AppStoreServerAPIErrorRule``).
  public static func name(of errorCode: Int64) -> String? { names[errorCode] ?? retention[errorCode] ?? advancedCommerce[errorCode] }

  private static let names: [Int64: String] = [
    4_000_000: "GeneralBadRequest", 4_000_002: "InvalidAppIdentifier", 4_000_005: "InvalidRequestRevision",
    4_000_006: "InvalidTransactionId", 4_000_008: "InvalidOriginalTransactionId", 4_000_009: "InvalidExtendByDays",
    4_000_010: "InvalidExtendReasonCode", 4_000_011: "InvalidRequestIdentifier", 4_000_012: "StartDateTooFarInPast",
    4_000_013: "StartDateAfterEndDate", 4_000_014: "InvalidPaginationToken", 4_000_015: "InvalidStartDate", 4_000_016: "InvalidEndDate",
    4_000_017: "PaginationTokenExpired", 4_000_018: "InvalidNotificationType", 4_000_019: "MultipleFiltersSupplied",
    4_000_020: "InvalidTestNotificationToken", 4_000_021: "InvalidSort", 4_000_022: "InvalidProductType", 4_000_023: "InvalidProductId",
    4_000_024: "InvalidSubscriptionGroupIdentifier", 4_000_025: "InvalidExcludeRevoked", 4_000_026: "InvalidInAppOwnershipType",
    4_000_027: "InvalidEmptyStorefrontCountryCodeList", 4_000_028: "InvalidStorefrontCountryCode", 4_000_030: "InvalidRevoked",
    4_000_031: "InvalidStatus", 4_000_032: "InvalidAccountTenure", 4_000_033: "InvalidAppAccountToken",
    4_000_034: "InvalidConsumptionStatus", 4_000_035: "InvalidCustomerConsented", 4_000_036: "InvalidDeliveryStatus",
    4_000_037: "InvalidLifetimeDollarsPurchased", 4_000_038: "InvalidLifetimeDollarsRefunded", 4_000_039: "InvalidPlatform",
    4_000_040: "InvalidPlayTime", 4_000_041: "InvalidSampleContentProvided", 4_000_042: "InvalidUserStatus",
    4_000_043: "InvalidTransactionNotConsumable", 4_000_047: "InvalidTransactionTypeNotSupported",
    4_000_048: "AppTransactionIdNotSupported", 4_000_183: "InvalidAppAccountTokenUUID", 4_000_185: "FamilyTransactionNotSupported",
    4_000_187: "TransactionIdNotOriginalTransactionId", 4_030_004: "SubscriptionExtensionIneligible",
    4_030_005: "SubscriptionMaxExtension", 4_030_007: "FamilySharedSubscriptionExtensionIneligible", 4_040_001: "AccountNotFound",
    4_040_002: "AccountNotFoundRetryable", 4_040_003: "AppNotFound", 4_040_004: "AppNotFoundRetryable",
    4_040_005: "OriginalTransactionIdNotFound", 4_040_006: "OriginalTransactionIdNotFoundRetryable",
    4_040_007: "ServerNotificationURLNotFound", 4_040_008: "TestNotificationNotFound", 4_040_009: "StatusRequestNotFound",
    4_040_010: "TransactionIdNotFound", 4_040_019: "AppTransactionDoesNotExist", 4_290_000: "RateLimitExceeded",
    5_000_000: "GeneralInternal", 5_000_001: "GeneralInternalRetryable",
  ]

  private static let retention: [Int64: String] = [
    4_000_161: "InvalidImage", 4_000_162: "HeaderTooLong", 4_000_163: "BodyTooLong", 4_000_164: "InvalidLocale",
    4_000_175: "AltTextTooLong", 4_000_211: "InvalidPerformanceTestRequest", 4_000_212: "InvalidRequestId",
    4_000_213: "ExistingPerformanceTestRun", 4_000_215: "BadRequestRealtimeUrl", 4_000_216: "BadRequestImageSize",
    4_000_218: "BadRequestTooManyBulletPoints", 4_000_219: "BadRequestBulletPointTextTooLong",
    4_000_224: "BadRequestAboveImageRequiresAnImage", 4_030_014: "MaximumNumberOfImagesReached",
    4_030_016: "MaximumNumberOfMessagesReached", 4_030_017: "MessageNotApproved", 4_030_018: "ImageNotApproved", 4_030_019: "ImageInUse",
    4_030_026: "ForbiddenNoPassingTest", 4_040_014: "ImageNotFound", 4_040_015: "MessageNotFound",
    4_040_018: "PerformanceTestRunNotFound", 4_040_020: "DefaultMessageNotFound", 4_040_021: "RealtimeUrlNotFound",
    4_090_000: "ImageAlreadyExists", 4_090_001: "MessageAlreadyExists",
  ]

  private static let advancedCommerce: [Int64: String] = [
    4_000_053: "InvalidCurrency", 4_000_079: "NullRequestInfo", 4_000_080: "NullRequestReferenceID",
    4_000_081: "InvalidRequestReferenceID", 4_000_086: "NegativePrice", 4_000_087: "SKULengthExceeded",
    4_000_097: "RepeatedRequestReferenceId", 4_000_098: "NullCurrency", 4_000_099: "NullTaxCode", 4_000_101: "NullItems",
    4_000_103: "NullDescriptors", 4_000_105: "NullSKU", 4_000_106: "NullDisplayName", 4_000_107: "NullDescription",
    4_000_109: "NullPrice", 4_000_111: "NullEffective", 4_000_115: "InvalidProductChanges", 4_000_118: "InvalidDisplayName",
    4_000_119: "InvalidDescription", 4_000_121: "InvalidProduct", 4_000_122: "InvalidSKU", 4_000_123: "InvalidRefundType",
    4_000_124: "InvalidRefundReason", 4_000_127: "InvalidTaxProductCode", 4_000_133: "MismatchedStorefront",
    4_000_134: "MissingPricingConfigForStorefront", 4_000_135: "OperationNotAllowed", 4_000_153: "NullRefundAmount",
    4_000_154: "NegativeRefundAmount", 4_000_155: "RefundAmountWithoutCustom", 4_000_156: "NullRefundReason", 4_000_157: "NullRefundType",
    4_000_158: "SimulateRefundDeclineOnlyInSandbox", 4_000_159: "NullRefundRisking", 4_000_160: "AtLeastOneItem",
    4_000_165: "AtLeastOneOfDisplayNameOrDescription", 4_000_166: "NullTargetProductID", 4_000_167: "InvalidTargetProductID",
    4_000_168: "RemovalAllNotAllowed", 4_000_169: "NullCurrentSKU", 4_000_173: "MalformedPayload",
    4_000_176: "SubscriptionAlreadyMigrated", 4_000_179: "ItemLimitExceeded", 4_000_180: "PendingChangesMismatch",
    4_000_181: "PendingRefund", 4_000_182: "ProratedOnlyLatestTransaction", 4_000_184: "PartialSimulateRefundDecline",
    4_000_186: "RevokeOnInactiveSubscription", 4_000_193: "DependentSKUsCannotBeChained", 4_000_194: "ItemCannotBeSpecifiedMultipleTimes",
    4_000_205: "PriceChangeCannotBeIssuedWhenAlreadyCommunicated", 4_000_220: "InvalidSKUProvidedMustBeCurrentSKUSetToRenew",
    4_000_221: "ACAPriceIncreaseIsNotCurrentlySupportedInIndia", 4_030_008: "SubscriptionDoesNotExist",
    4_030_009: "SubscriptionAlreadyExists", 4_030_010: "SubscriptionNotEligible", 4_030_013: "ProductNotOwned",
    4_030_021: "AlreadyRefunded", 4_030_022: "StorefrontChange", 4_030_023: "ProductNotEligible", 4_030_024: "TransactionNotRefundable",
    4_030_025: "TransactionCannotBeRefundedContactSupport", 4_030_027: "MigrationNotAllowedWhenPriceIncreaseCommunicated",
    4_040_016: "ProductNotFound",
  ]
}
