"""The six calls of the Advanced Commerce API: the body of Apple's library for each, and the equivalent request to the service."""

import functools
import uuid
from collections.abc import Callable
from typing import Any

from appstoreserverlibrary.models.AdvancedCommerceEffective import AdvancedCommerceEffective
from appstoreserverlibrary.models.AdvancedCommerceRefundReason import AdvancedCommerceRefundReason
from appstoreserverlibrary.models.AdvancedCommerceRefundType import AdvancedCommerceRefundType
from appstoreserverlibrary.models.AdvancedCommerceRequestInfo import AdvancedCommerceRequestInfo
from appstoreserverlibrary.models.AdvancedCommerceRequestRefundItem import AdvancedCommerceRequestRefundItem
from appstoreserverlibrary.models.AdvancedCommerceRequestRefundRequest import AdvancedCommerceRequestRefundRequest
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionCancelRequest import AdvancedCommerceSubscriptionCancelRequest
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionChangeMetadataDescriptors import (
    AdvancedCommerceSubscriptionChangeMetadataDescriptors,
)
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionChangeMetadataItem import AdvancedCommerceSubscriptionChangeMetadataItem
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionChangeMetadataRequest import AdvancedCommerceSubscriptionChangeMetadataRequest
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionMigrateDescriptors import AdvancedCommerceSubscriptionMigrateDescriptors
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionMigrateItem import AdvancedCommerceSubscriptionMigrateItem
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionMigrateRenewalItem import AdvancedCommerceSubscriptionMigrateRenewalItem
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionMigrateRequest import AdvancedCommerceSubscriptionMigrateRequest
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionPriceChangeItem import AdvancedCommerceSubscriptionPriceChangeItem
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionPriceChangeRequest import AdvancedCommerceSubscriptionPriceChangeRequest
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionRevokeRequest import AdvancedCommerceSubscriptionRevokeRequest
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from SystemTests.apple_calls.steps import new_id

from .cases import IDS, NAMES, UUIDS, Call, maybe, texts, without_none

# Draws a body from common members: the library's body, and ours.
Body = Callable[[DrawFn, AdvancedCommerceRequestInfo, str | None], tuple[Any, dict]]


def commerce(method: str, path: str, body: Body) -> st.SearchStrategy[Call]:
    @st.composite
    def case(draw: DrawFn) -> Call:
        id, reference, account, token = draw(IDS), new_id(), draw(maybe(UUIDS)), draw(maybe(texts(40)))
        storefront = draw(maybe(st.sampled_from(["USA", "DEU", "JPN"])))
        info = AdvancedCommerceRequestInfo(requestReferenceId=uuid.UUID(reference), appAccountToken=account, consistencyToken=token)
        theirs, ours = body(draw, info, storefront)
        request_info = {"requestReferenceId": reference, "appAccountToken": account and str(account), "consistencyToken": token}
        ours |= {"requestInfo": without_none(request_info), "storefront": storefront}
        return (lambda apple: apple._make_request(f"/advancedCommerce/v1/{path}/{id}", "POST", {}, theirs, type(theirs), None),
                "AdvancedCommerce", method, {"transactionId": id, "request": without_none(ours)})

    return case()


@functools.cache
def skus(most: int = 4) -> st.SearchStrategy[list[str]]:
    return st.lists(texts(128), min_size=1, max_size=most, unique=True)


EFFECTIVE, REASONS = st.sampled_from(list(AdvancedCommerceEffective)), [
    reason for reason in AdvancedCommerceRefundReason if reason != AdvancedCommerceRefundReason.SIMULATE_REFUND_DECLINE]
TAX_CODES = st.sampled_from(["C003-00-1", "C003-00-2", "S021-07-3", "G001-10-1"])
# Each of some names; at least one of those that may change.
CHANGES = st.fixed_dictionaries({"displayName": maybe(texts(30)), "description": maybe(texts(45))}).filter(lambda names: any(names.values()))


def metadata(draw: DrawFn, info: AdvancedCommerceRequestInfo, storefront: str | None) -> tuple[Any, dict]:
    descriptors = draw(maybe(st.tuples(EFFECTIVE, CHANGES)))
    has_items = draw(st.booleans()) or not descriptors
    items = [(sku, draw(EFFECTIVE), draw(maybe(texts(128))), draw(CHANGES)) for sku in draw(skus())] if has_items else None
    code = draw(maybe(TAX_CODES))
    return AdvancedCommerceSubscriptionChangeMetadataRequest(
        requestInfo=info, storefront=storefront, taxCode=code,
        descriptors=descriptors and AdvancedCommerceSubscriptionChangeMetadataDescriptors(effective=descriptors[0], **descriptors[1]),
        items=items and [AdvancedCommerceSubscriptionChangeMetadataItem(currentSKU=sku, effective=when, SKU=new, **names)
                         for sku, when, new, names in items],
    ), {"taxCode": code, "descriptors": descriptors and {"effective": descriptors[0].value, **without_none(descriptors[1])},
        "items": items and [without_none({"currentSKU": sku, "effective": when.value, "SKU": new, **names}) for sku, when, new, names in items]}


def migration(draw: DrawFn, info: AdvancedCommerceRequestInfo, storefront: str | None) -> tuple[Any, dict]:
    names, product, code = (draw(texts(30)), draw(texts(45))), draw(NAMES), draw(TAX_CODES)
    items = [(sku, draw(texts(30)), draw(texts(45))) for sku in draw(skus())]
    renewal = [(sku, draw(texts(30)), draw(texts(45))) for sku in draw(skus())] if draw(st.booleans()) else None

    def made(kind: type, named: list[tuple[str, str, str]] | None) -> list | None:
        return named and [kind(SKU=sku, displayName=name, description=words) for sku, name, words in named]

    def plain_items(named: list[tuple[str, str, str]] | None) -> list[dict] | None:
        return named and [{"SKU": sku, "displayName": name, "description": words} for sku, name, words in named]

    return AdvancedCommerceSubscriptionMigrateRequest(
        requestInfo=info, storefront=storefront, taxCode=code, targetProductId=product,
        descriptors=AdvancedCommerceSubscriptionMigrateDescriptors(displayName=names[0], description=names[1]),
        items=made(AdvancedCommerceSubscriptionMigrateItem, items), renewalItems=made(AdvancedCommerceSubscriptionMigrateRenewalItem, renewal),
    ), {"taxCode": code, "targetProductId": product, "descriptors": {"displayName": names[0], "description": names[1]},
        "items": plain_items(items), "renewalItems": plain_items(renewal)}


def prices(draw: DrawFn, info: AdvancedCommerceRequestInfo, storefront: str | None) -> tuple[Any, dict]:
    currency = draw(maybe(st.sampled_from(["USD", "EUR", "JPY", "ISK"])))
    names = draw(skus(6))
    count = draw(st.integers(1, len(names)))
    # The rest depends on one of the first values.
    owners = [draw(st.integers(0, count - 1)) for _ in names[count:]]
    items = [(sku, draw(st.integers(0, 10**6)) * 1000, [other for other, owner in zip(names[count:], owners, strict=True) if owner == index] or None)
             for index, sku in enumerate(names[:count])]
    return AdvancedCommerceSubscriptionPriceChangeRequest(
        requestInfo=info, storefront=storefront, currency=currency,
        items=[AdvancedCommerceSubscriptionPriceChangeItem(SKU=sku, price=price, dependentSKUs=others) for sku, price, others in items],
    ), {"currency": currency, "items": [without_none({"SKU": sku, "price": price, "dependentSKUs": others}) for sku, price, others in items]}


def cancellation(_draw: DrawFn, info: AdvancedCommerceRequestInfo, storefront: str | None) -> tuple[Any, dict]:
    return AdvancedCommerceSubscriptionCancelRequest(requestInfo=info, storefront=storefront), {}


def revocation(draw: DrawFn, info: AdvancedCommerceRequestInfo, storefront: str | None) -> tuple[Any, dict]:
    reason, risking = draw(st.sampled_from(REASONS)), draw(st.booleans())
    type = draw(st.sampled_from([AdvancedCommerceRefundType.FULL, AdvancedCommerceRefundType.PRORATED]))
    return AdvancedCommerceSubscriptionRevokeRequest(
        requestInfo=info, storefront=storefront, refundReason=reason, refundRiskingPreference=risking, refundType=type,
    ), {"refundReason": reason.value, "refundRiskingPreference": risking, "refundType": type.value}


def refund(draw: DrawFn, info: AdvancedCommerceRequestInfo, storefront: str | None) -> tuple[Any, dict]:
    currency, risking = draw(maybe(st.sampled_from(["USD", "EUR"]))), draw(st.booleans())
    items = []
    for sku in draw(skus()):
        type = draw(st.sampled_from(list(AdvancedCommerceRefundType)))
        amount = draw(st.integers(1, 10**9)) if type == AdvancedCommerceRefundType.CUSTOM else None
        items.append((sku, type, amount, draw(st.sampled_from(REASONS)), draw(st.booleans())))
    return AdvancedCommerceRequestRefundRequest(
        requestInfo=info, storefront=storefront, currency=currency, refundRiskingPreference=risking,
        items=[AdvancedCommerceRequestRefundItem(SKU=sku, refundType=type, refundAmount=amount, refundReason=reason, revoke=revoke)
               for sku, type, amount, reason, revoke in items],
    ), {"currency": currency, "refundRiskingPreference": risking, "items": [
        without_none({"SKU": sku, "refundType": type.value, "refundAmount": amount, "refundReason": reason.value, "revoke": revoke})
        for sku, type, amount, reason, revoke in items]}


COMMERCE = {
    "Change Subscription Metadata": commerce("ChangeAdvancedCommerceMetadata", "subscription/changeMetadata", metadata),
    "Migrate a Subscription": commerce("MigrateToAdvancedCommerce", "subscription/migrate", migration),
    "Change Subscription Price": commerce("ChangeAdvancedCommercePrice", "subscription/changePrice", prices),
    "Cancel a Subscription": commerce("CancelAdvancedCommerceSubscription", "subscription/cancel", cancellation),
    "Revoke Subscription": commerce("RevokeAdvancedCommerceSubscription", "subscription/revoke", revocation),
    "Request Transaction Refund": commerce("RequestAdvancedCommerceRefund", "transaction/requestRefund", refund),
}
