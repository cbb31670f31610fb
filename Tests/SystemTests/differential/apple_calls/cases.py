"""For each call of Apple's library for Python: its arguments, and the equivalent request to the service."""

import functools
import time
from collections.abc import Callable
from typing import Any

from appstoreserverlibrary.api_client import GetTransactionHistoryVersion
from appstoreserverlibrary.models.BulletPoint import BulletPoint
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.DefaultConfigurationRequest import DefaultConfigurationRequest
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.HeaderPosition import HeaderPosition
from appstoreserverlibrary.models.ImageSize import ImageSize
from appstoreserverlibrary.models.InAppOwnershipType import InAppOwnershipType
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.PerformanceTestRequest import PerformanceTestRequest
from appstoreserverlibrary.models.RealtimeUrlRequest import RealtimeUrlRequest
from appstoreserverlibrary.models.RefundPreference import RefundPreference
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionHistoryRequest import Order, ProductType, TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.models.UploadMessageImage import UploadMessageImage
from appstoreserverlibrary.models.UploadMessageRequestBody import UploadMessageRequestBody
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from SystemTests.apple_calls.steps import new_id, png

from .library import base64_text

ENDPOINTS = ["getTransactionInfo", "getTransactionHistory", "getAppTransactionInfo", "getAllSubscriptionStatuses", "setAppAccountToken",
             "finishTransaction", "sendConsumptionInformation", "sendConsumptionInformationV1", "lookUpOrderID", "getRefundHistory",
             "extendRenewalDate", "extendRenewalDatesForAll", "getRenewalDateExtensionStatus", "requestTestNotification",
             "getTestNotificationStatus", "uploadRetentionImage", "deleteRetentionImage", "listRetentionImages", "uploadRetentionMessage",
             "deleteRetentionMessage", "listRetentionMessages", "setDefaultRetentionMessage", "getDefaultRetentionMessage",
             "deleteDefaultRetentionMessage", "setRetentionURL", "getRetentionURL", "deleteRetentionURL", "startRetentionPerformanceTest",
             "getRetentionPerformanceTest", "changeSubscriptionMetadata", "migrateSubscription", "changeSubscriptionPrice", "cancelSubscription",
             "revokeSubscription", "requestTransactionRefund"]
# The time of the request that consumption information answers.
REQUESTED_AT = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
IDS = st.integers(1, 10**18).map(str)
UUIDS = st.uuids()
# The library puts values into a path unchanged; each of these is one segment for both sides.
NAMES = st.text("abcXYZ019_-~ é&+=,;:@!$'()*", min_size=1, max_size=40).filter(lambda text: text.strip(".") and text == text.strip())
LOCALES = st.sampled_from(["en", "en-US", "de", "zh-Hans", "pt-BR", "es-419"])
TOKENS = st.text("abcdefABCDEF0123456789-_=", min_size=1, max_size=80)


def maybe(strategy: st.SearchStrategy) -> st.SearchStrategy:
    return st.none() | strategy


def without_none(message: dict) -> dict:
    return {name: value for name, value in message.items() if value is not None}


# Cached, because to compute the set of characters takes longer than to draw a text.
@functools.cache
def texts(most: int) -> st.SearchStrategy[str]:
    """Without characters that one side counts as one and the other as two."""
    return st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), min_size=1, max_size=most)


# The call of the library, and our service, method and message.
Call = tuple[Callable[[Any], Any], str, str, dict]


@st.composite
def statuses(draw: DrawFn) -> Call:
    id, wanted = draw(IDS), draw(maybe(st.lists(st.sampled_from(list(Status)), min_size=1, max_size=5)))
    return (lambda apple: apple.get_all_subscription_statuses(id, wanted), "Recovery", "GetSubscriptionStatuses",
            without_none({"transactionId": id, "status": wanted and [int(one) for one in wanted]}))


@st.composite
def history(draw: DrawFn) -> Call:
    id, revision = draw(IDS), draw(maybe(TOKENS))
    start, end = draw(maybe(st.integers(0, 10**12))), draw(maybe(st.integers(10**12 + 1, 4 * 10**12)))
    products, groups = draw(st.lists(NAMES, max_size=3)), draw(st.lists(IDS, max_size=3))
    types, sort = draw(st.lists(st.sampled_from(list(ProductType)), max_size=4)), draw(maybe(st.sampled_from(list(Order))))
    owner = draw(maybe(st.sampled_from([InAppOwnershipType.PURCHASED, InAppOwnershipType.FAMILY_SHARED])))
    revoked = draw(maybe(st.booleans()))
    request = TransactionHistoryRequest(startDate=start, endDate=end, productIds=products or None, productTypes=types or None, sort=sort,
                                        subscriptionGroupIdentifiers=groups or None, inAppOwnershipType=owner, revoked=revoked)
    return (lambda apple: apple.get_transaction_history(id, revision, request, GetTransactionHistoryVersion.V2), "Recovery", "GetTransactionHistory",
            without_none({"transactionId": id, "revision": revision, "startDate": start, "endDate": end, "productId": products,
                          "productType": [one.value for one in types], "subscriptionGroupIdentifier": groups,
                          "inAppOwnershipType": owner and owner.value, "sort": sort and sort.value, "revoked": revoked}))


@st.composite
def of_one_id(draw: DrawFn, name: str, method: str, field: str, ids: st.SearchStrategy[str] = IDS) -> Call:
    id = draw(ids)
    return lambda apple: getattr(apple, name)(id), "Recovery", method, {field: id}


@st.composite
def refunds(draw: DrawFn) -> Call:
    id, revision = draw(IDS), draw(maybe(TOKENS))
    return (lambda apple: apple.get_refund_history(id, revision), "Recovery", "GetRefundHistory",
            without_none({"transactionId": id, "revision": revision}))


@st.composite
def account_token(draw: DrawFn) -> Call:
    id, token = draw(IDS), str(draw(UUIDS))
    return (lambda apple: apple.set_app_account_token(id, UpdateAppAccountTokenRequest(appAccountToken=token)), "Recovery", "SetAppAccountToken",
            {"originalTransactionId": id, "appAccountToken": token})


@st.composite
def consumption(draw: DrawFn) -> Call:
    id, delivery = draw(IDS), draw(st.sampled_from(list(DeliveryStatus)))
    percentage = draw(maybe(st.integers(0, 100_000 if delivery == DeliveryStatus.DELIVERED else 0)))
    preference, sample = draw(maybe(st.sampled_from(list(RefundPreference)))), draw(st.booleans())
    body = ConsumptionRequest(customerConsented=True, sampleContentProvided=sample, deliveryStatus=delivery, consumptionPercentage=percentage,
                              refundPreference=preference)
    return (lambda apple: apple.send_consumption_information(id, body), "Recovery", "SendConsumptionInformation", {
        "transactionId": id, "consumption": without_none({
            "customerConsented": True, "sampleContentProvided": sample, "deliveryStatus": delivery.value, "consumptionPercentage": percentage,
            "refundPreference": preference and preference.value}), "requestedAt": REQUESTED_AT})


@st.composite
def consumption_1(draw: DrawFn) -> Call:
    id, token = draw(IDS), draw(st.just("") | UUIDS.map(str))
    codes = {name: draw(st.integers(0, most)) for name, most in (
        ("consumptionStatus", 3), ("platform", 2), ("deliveryStatus", 5), ("accountTenure", 7), ("playTime", 7), ("lifetimeDollarsRefunded", 7),
        ("lifetimeDollarsPurchased", 7), ("userStatus", 4), ("refundPreference", 3))}
    body = ConsumptionRequestV1(customerConsented=True, sampleContentProvided=False, appAccountToken=token,
                                **{f"raw{name[0].upper()}{name[1:]}": value for name, value in codes.items()})
    return (
        lambda apple: apple.send_consumption_data(id, body),
        "Recovery",
        "SendConsumptionInformation",
        {
            "transactionId": id,
            "version": 1,
            "requestedAt": REQUESTED_AT,
            "consumption": {"customerConsented": True, "sampleContentProvided": False, "appAccountToken": token, **codes},
        },
    )


@st.composite
def mass_extension(draw: DrawFn) -> Call:
    # The service first queries an earlier call with the same identifier, so each case uses a new one.
    days, reason, id, product = draw(st.integers(1, 90)), draw(st.sampled_from(list(ExtendReasonCode))), new_id(), draw(NAMES)
    countries = draw(st.lists(st.sampled_from(["USA", "DEU", "JPN", "BRA"]), max_size=4))
    body = MassExtendRenewalDateRequest(extendByDays=days, extendReasonCode=reason, requestIdentifier=id, storefrontCountryCodes=countries or None,
                                        productId=product)
    message = {"extendByDays": days, "extendReasonCode": int(reason), "requestIdentifier": id, "productId": product}
    return (lambda apple: apple.extend_renewal_date_for_all_active_subscribers(body), "Recovery", "ExtendRenewalDatesForAllSubscribers",
            {**message, "storefrontCountryCodes": countries} if countries else message)


@st.composite
def mass_status(draw: DrawFn) -> Call:
    id, product = str(draw(UUIDS)), draw(NAMES)
    return (lambda apple: apple.get_status_of_subscription_renewal_date_extensions(id, product), "Recovery", "GetRenewalDateExtensionStatus",
            {"requestIdentifier": id, "productId": product})


@st.composite
def image(draw: DrawFn) -> Call:
    id, size = draw(UUIDS), draw(maybe(st.sampled_from(list(ImageSize))))
    data = png(1024, 1024, grey=draw(st.integers(0, 255))) if size == ImageSize.BULLET_POINT else \
        png(3840, draw(st.integers(160, 200)), grey=draw(st.integers(0, 255)))
    return (lambda apple: apple.upload_image(id, data, size), "Retention", "UploadRetentionImage",
            without_none({"imageIdentifier": str(id), "image": base64_text(data), "imageSize": size and size.value}))


@st.composite
def message(draw: DrawFn) -> Call:
    id, header, body = draw(UUIDS), draw(texts(66)), draw(texts(144))
    picture = draw(maybe(st.tuples(UUIDS, texts(150))))
    position = draw(maybe(st.sampled_from(list(HeaderPosition) if picture else [HeaderPosition.ABOVE_BODY])))
    points = draw(maybe(st.lists(st.tuples(texts(66), UUIDS, texts(150)), min_size=1, max_size=5)))
    request = UploadMessageRequestBody(
        header=header, body=body, image=picture and UploadMessageImage(imageIdentifier=picture[0], altText=picture[1]), headerPosition=position,
        bulletPoints=points and [BulletPoint(text=text, imageIdentifier=one, altText=alt) for text, one, alt in points])
    ours = {"header": header, "body": body, "headerPosition": position and position.value,
            "image": picture and {"imageIdentifier": str(picture[0]), "altText": picture[1]},
            "bulletPoints": points and [{"text": text, "imageIdentifier": str(one), "altText": alt} for text, one, alt in points]}
    return (lambda apple: apple.upload_message(id, request), "Retention", "UploadRetentionMessage",
            {"messageIdentifier": str(id), "message": without_none(ours)})


@st.composite
def of_one_uuid(draw: DrawFn, name: str, method: str, field: str) -> Call:
    id = draw(UUIDS)
    return lambda apple: getattr(apple, name)(id), "Retention", method, {field: str(id)}


@st.composite
def default_message(draw: DrawFn, name: str, method: str) -> Call:
    product, locale, id = draw(NAMES), draw(LOCALES), draw(UUIDS)
    more = [DefaultConfigurationRequest(messageIdentifier=id)] if name.startswith("configure") else []
    return (lambda apple: getattr(apple, name)(product, locale, *more), "Retention", method,
            {"productId": product, "locale": locale, **({"messageIdentifier": str(id)} if more else {})})


@st.composite
def url_setting(draw: DrawFn) -> Call:
    url = "https://a" + draw(st.text("abcdefghijklmnopqrstuvwxyz0123456789.-/_~%?=&", max_size=247))
    return (lambda apple: apple.configure_realtime_url(RealtimeUrlRequest(realtimeURL=url)), "Retention", "SetRetentionURL", {"realtimeUrl": url})


@st.composite
def performance_test(draw: DrawFn) -> Call:
    id = draw(IDS)
    return (lambda apple: apple.initiate_performance_test(PerformanceTestRequest(originalTransactionId=id)), "Retention",
            "StartRetentionPerformanceTest", {"environment": "Sandbox", "originalTransactionId": id})


@st.composite
def performance_result(draw: DrawFn) -> Call:
    id = str(draw(UUIDS))
    return (lambda apple: apple.get_performance_test_results(id), "Retention", "GetRetentionPerformanceTest",
            {"environment": "Sandbox", "requestId": id})


def plain(name: str, service: str, method: str) -> st.SearchStrategy[Call]:
    return st.just((lambda apple: getattr(apple, name)(), service, method, {}))


CALLS = {
    "Get All Subscription Statuses": statuses(), "Get Transaction History": history(), "Get Refund History": refunds(),
    "Get Transaction Info": of_one_id("get_transaction_info", "GetTransactionInfo", "transactionId"),
    "Get App Transaction Info": of_one_id("get_app_transaction_info", "GetAppTransactionInfo", "transactionId"),
    "Look Up Order ID": of_one_id("look_up_order_id", "LookUpOrder", "orderId", NAMES),
    "Finish Transaction": of_one_id("finish_transaction", "FinishTransaction", "transactionId"),
    "Get Test Notification Status": of_one_id("get_test_notification_status", "GetTestNotificationStatus", "testNotificationToken", TOKENS),
    "Request a Test Notification": plain("request_test_notification", "Recovery", "RequestTestNotification"),
    "Set App Account Token": account_token(), "Send Consumption Information": consumption(), "Send Consumption Information V1": consumption_1(),
    "Extend for All": mass_extension(), "Get Status of Extensions": mass_status(),
    "Upload Image": image(), "Delete Image": of_one_uuid("delete_image", "DeleteRetentionImage", "imageIdentifier"),
    "Get Image List": plain("get_image_list", "Retention", "ListRetentionImages"),
    "Upload Message": message(), "Delete Message": of_one_uuid("delete_message", "DeleteRetentionMessage", "messageIdentifier"),
    "Get Message List": plain("get_message_list", "Retention", "ListRetentionMessages"),
    "Configure Default Message": default_message("configure_default_message", "SetDefaultRetentionMessage"),
    "Get Default Message": default_message("get_default_message", "GetDefaultRetentionMessage"),
    "Delete Default Message": default_message("delete_default_message", "DeleteDefaultRetentionMessage"),
    "Configure Realtime URL": url_setting(), "Get Realtime URL": plain("get_realtime_url", "Retention", "GetRetentionURL"),
    "Delete Realtime URL": plain("delete_realtime_url", "Retention", "DeleteRetentionURL"),
    "Initiate Performance Test": performance_test(), "Get Performance Test Results": performance_result(),
}
