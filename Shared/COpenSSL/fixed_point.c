/* The group arithmetic of OpenSSL 3.0 that these functions need is deprecated there and has no successor. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "COpenSSL.h"
#include "FixedPoint.h"

#include <openssl/obj_mac.h>

struct copenssl_fixed_point {
  EC_GROUP *group;
  /* The same curve with the key's point for its generator: so OpenSSL's tables for a generator become tables for the key. */
  EC_GROUP *key_group;
  BN_MONT_CTX *order;
};

void copenssl_fixed_point_free(copenssl_fixed_point *self) {
  if (self == NULL) return;
  EC_GROUP_free(self->group);
  EC_GROUP_free(self->key_group);
  BN_MONT_CTX_free(self->order);
  OPENSSL_free(self);
}

copenssl_fixed_point *copenssl_fixed_point_new(const uint8_t *encoded, size_t length) {
  copenssl_fixed_point *self = OPENSSL_zalloc(sizeof(*self));
  BN_CTX *context = BN_CTX_new();
  EC_POINT *point = NULL;
  int made = 0;
  if (self == NULL || context == NULL) goto end;
  self->group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
  self->order = BN_MONT_CTX_new();
  if (self->group == NULL || self->order == NULL) goto end;
  const BIGNUM *n = EC_GROUP_get0_order(self->group);
  point = EC_POINT_new(self->group);
  if (point == NULL || !EC_POINT_oct2point(self->group, point, encoded, length, context)) goto end;
  if (EC_POINT_is_at_infinity(self->group, point)) goto end;
  self->key_group = EC_GROUP_dup(self->group);
  made = self->key_group != NULL && EC_GROUP_set_generator(self->key_group, point, n, BN_value_one()) &&
         EC_GROUP_precompute_mult(self->key_group, context) && EC_GROUP_have_precompute_mult(self->key_group) &&
         BN_MONT_CTX_set(self->order, n, context);
end:
  EC_POINT_free(point);
  BN_CTX_free(context);
  if (!made) {
    copenssl_fixed_point_free(self);
    ERR_clear_error();
    return NULL;
  }
  return self;
}

int copenssl_fixed_point_verify(const copenssl_fixed_point *self, const uint8_t *digest, const uint8_t *r_bytes, const uint8_t *s_bytes) {
  int answer = -1;
  BN_CTX *context = BN_CTX_new();
  if (context == NULL) return -1;
  BN_CTX_start(context);
  BIGNUM *r = BN_CTX_get(context), *s = BN_CTX_get(context), *z = BN_CTX_get(context), *w = BN_CTX_get(context);
  BIGNUM *u1 = BN_CTX_get(context), *u2 = BN_CTX_get(context), *x = BN_CTX_get(context);
  EC_POINT *first = EC_POINT_new(self->group), *second = EC_POINT_new(self->group);
  const BIGNUM *n = EC_GROUP_get0_order(self->group);
  if (x == NULL || first == NULL || second == NULL) goto end;
  if (!BN_bin2bn(r_bytes, 32, r) || !BN_bin2bn(s_bytes, 32, s) || !BN_bin2bn(digest, 32, z)) goto end;
  if (BN_is_zero(r) || BN_is_zero(s) || BN_cmp(r, n) >= 0 || BN_cmp(s, n) >= 0) {
    answer = 0;
    goto end;
  }
  /* w = 1/s; u1 = z w; u2 = r w. */
  if (!BN_mod_inverse(w, s, n, context) || !BN_to_montgomery(w, w, self->order, context)) goto end;
  if (!BN_nnmod(z, z, n, context)) goto end;
  if (!BN_mod_mul_montgomery(u1, z, w, self->order, context) || !BN_mod_mul_montgomery(u2, r, w, self->order, context)) goto end;
  /* u1 G + u2 Q, each from its tables. */
  if (!EC_POINT_mul(self->group, first, u1, NULL, NULL, context)) goto end;
  if (!EC_POINT_mul(self->key_group, second, u2, NULL, NULL, context)) goto end;
  if (!EC_POINT_add(self->group, first, first, second, context)) goto end;
  if (EC_POINT_is_at_infinity(self->group, first)) {
    answer = 0;
    goto end;
  }
  if (!EC_POINT_get_affine_coordinates(self->group, first, x, NULL, context)) goto end;
  /* The field is larger than the order: its residue counts. */
  if (BN_cmp(x, n) >= 0 && !BN_sub(x, x, n)) goto end;
  answer = BN_cmp(x, r) == 0;
end:
  EC_POINT_free(first);
  EC_POINT_free(second);
  BN_CTX_end(context);
  BN_CTX_free(context);
  if (answer < 0) ERR_clear_error();
  return answer;
}
