/* OpenSSL 3.0 deprecates the group arithmetic that these functions need, without a replacement. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "COpenSSL.h"
#include "FixedPoint.h"
#include "ModularInverse.h"

#include <openssl/obj_mac.h>
#include <pthread.h>
#include <string.h>

/* The table of a point P of P-384: entry 255 i + d - 1 is d 2^(8 i) P, for i from 0 to 47 and d from 1 to 255. A multiple of P is the sum
   of one entry for each byte of the scalar that is not zero. OpenSSL's own tables would not help: for a curve without assembly, it
   multiplies with a constant-time ladder, which doubles a point for every bit of the scalar. */
enum { WINDOW = 8, DIGITS = (1 << WINDOW) - 1, WINDOWS = (384 + WINDOW - 1) / WINDOW };

/* A curve, with the values for arithmetic modulo the order n of its points, and modulo the prime p of its field. */
typedef struct {
  EC_GROUP *group;
  BN_MONT_CTX *order, *field;
  const BIGNUM *n;
  BIGNUM *p;
  /* n, for inverses modulo n. */
  copenssl_modulus modulus;
} curve;

struct copenssl_fixed_point {
  /* The number of bytes of a coordinate: 32 for P-256, 48 for P-384. */
  size_t width;
  curve curve;
  /* P-256: the same curve with the key's point as its generator, so that OpenSSL's tables for a generator become tables for the key. */
  EC_GROUP *key_group;
  /* P-384: the table of the key's point. NULL in copenssl_p384_verify, which sets only the point. */
  EC_POINT **table;
  EC_POINT *point;
};

static void table_free(EC_POINT **table) {
  if (table == NULL) return;
  for (size_t index = 0; index < WINDOWS * DIGITS; index++) EC_POINT_free(table[index]);
  OPENSSL_free(table);
}

static EC_POINT **table_new(const EC_GROUP *group, const EC_POINT *point, BN_CTX *context) {
  EC_POINT **table = OPENSSL_zalloc(WINDOWS * DIGITS * sizeof(*table));
  EC_POINT *unit = EC_POINT_dup(point, group);
  int made = 0;
  if (table == NULL || unit == NULL) goto end;
  for (size_t window = 0; window < WINDOWS; window++) {
    EC_POINT **row = table + window * DIGITS;
    if ((row[0] = EC_POINT_dup(unit, group)) == NULL) goto end;
    for (size_t digit = 1; digit < DIGITS; digit++) {
      if ((row[digit] = EC_POINT_new(group)) == NULL || !EC_POINT_add(group, row[digit], row[digit - 1], unit, context)) goto end;
    }
    /* 256 times the unit of this row, its last entry plus the unit, is the unit of the next row. */
    if (!EC_POINT_add(group, unit, row[DIGITS - 1], unit, context)) goto end;
  }
  /* Sets the Z coordinates to one, because adding such a point costs less. */
  made = EC_POINTs_make_affine(group, WINDOWS * DIGITS, table, context);
end:
  EC_POINT_free(unit);
  if (made) return table;
  table_free(table);
  return NULL;
}

/* Adds to the sum the scalar times the table's point. The scalar has 48 bytes, big endian. */
static int table_add(const EC_GROUP *group, EC_POINT *sum, EC_POINT *const *table, const uint8_t *scalar, BN_CTX *context) {
  for (size_t window = 0; window < WINDOWS; window++) {
    size_t bit = window * WINDOW, byte = 47 - bit / 8;
    unsigned bits = scalar[byte] | (byte > 0 ? (unsigned)scalar[byte - 1] << 8 : 0);
    unsigned digit = (bits >> (bit % 8)) & DIGITS;
    if (digit > 0 && !EC_POINT_add(group, sum, sum, table[window * DIGITS + digit - 1], context)) return 0;
  }
  return 1;
}

static void curve_free(curve *self) {
  EC_GROUP_free(self->group);
  BN_MONT_CTX_free(self->order);
  BN_MONT_CTX_free(self->field);
  BN_free(self->p);
}

/* The caller must free the curve even if this fails. */
static int curve_make(curve *self, int name, size_t width, BN_CTX *context) {
  uint8_t order[48];
  self->group = EC_GROUP_new_by_curve_name(name);
  self->order = BN_MONT_CTX_new();
  self->field = BN_MONT_CTX_new();
  self->p = BN_new();
  if (self->group == NULL || self->order == NULL || self->field == NULL || self->p == NULL) return 0;
  self->n = EC_GROUP_get0_order(self->group);
  return EC_GROUP_get_curve(self->group, self->p, NULL, NULL, context) && BN_MONT_CTX_set(self->order, self->n, context) &&
         BN_MONT_CTX_set(self->field, self->p, context) && BN_bn2binpad(self->n, order, (int)width) == (int)width &&
         copenssl_modulus_set(&self->modulus, order, width);
}

/* P-384 with the table of its generator, which is made once and kept until the process ends. */
static CRYPTO_ONCE p384_once = CRYPTO_ONCE_STATIC_INIT;
static struct {
  curve curve;
  EC_POINT **table;
} p384;

static void make_p384(void) {
  BN_CTX *context = BN_CTX_new();
  if (context != NULL && curve_make(&p384.curve, NID_secp384r1, 48, context)) {
    p384.table = table_new(p384.curve.group, EC_GROUP_get0_generator(p384.curve.group), context);
  }
  BN_CTX_free(context);
}

static int has_p384(void) { return CRYPTO_THREAD_run_once(&p384_once, make_p384) && p384.table != NULL; }

void copenssl_fixed_point_free(copenssl_fixed_point *self) {
  if (self == NULL) return;
  table_free(self->table);
  EC_GROUP_free(self->key_group);
  curve_free(&self->curve);
  OPENSSL_free(self);
}

static int make_tables(copenssl_fixed_point *self, const EC_POINT *point, BN_CTX *context) {
  if (self->width == 48) {
    if (!has_p384()) return 0;
    self->table = table_new(self->curve.group, point, context);
    return self->table != NULL;
  }
  self->key_group = EC_GROUP_dup(self->curve.group);
  return self->key_group != NULL && EC_GROUP_set_generator(self->key_group, point, self->curve.n, BN_value_one()) &&
         EC_GROUP_precompute_mult(self->key_group, context) && EC_GROUP_have_precompute_mult(self->key_group);
}

copenssl_fixed_point *copenssl_fixed_point_new(int bits, const uint8_t *encoded, size_t length) {
  copenssl_fixed_point *self = OPENSSL_zalloc(sizeof(*self));
  BN_CTX *context = BN_CTX_new();
  EC_POINT *point = NULL;
  int made = 0;
  if (self == NULL || context == NULL || (bits != COPENSSL_FIXED_P256 && bits != COPENSSL_FIXED_P384)) goto end;
  self->width = (size_t)bits / 8;
  if (!curve_make(&self->curve, bits == COPENSSL_FIXED_P256 ? NID_X9_62_prime256v1 : NID_secp384r1, self->width, context)) goto end;
  point = EC_POINT_new(self->curve.group);
  if (point == NULL || !EC_POINT_oct2point(self->curve.group, point, encoded, length, context)) goto end;
  if (EC_POINT_is_at_infinity(self->curve.group, point)) goto end;
  made = make_tables(self, point, context);
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

/* The objects that a verification needs. Each thread keeps its own, so that a verification need not allocate them. They contain no
   secret. */
typedef struct {
  BN_CTX *context;
  /* Points of P-256. */
  EC_POINT *sum, *second;
} scratch;

static pthread_once_t scratch_once = PTHREAD_ONCE_INIT;
static pthread_key_t scratch_key;
static int has_scratch_key;

static void scratch_free(void *own) {
  scratch *self = own;
  if (self == NULL) return;
  EC_POINT_free(self->sum);
  EC_POINT_free(self->second);
  BN_CTX_free(self->context);
  OPENSSL_free(self);
}

static void make_scratch_key(void) { has_scratch_key = pthread_key_create(&scratch_key, scratch_free) == 0; }

static scratch *scratch_get(void) {
  if (pthread_once(&scratch_once, make_scratch_key) != 0 || !has_scratch_key) return NULL;
  scratch *self = pthread_getspecific(scratch_key);
  if (self != NULL) return self;
  self = OPENSSL_zalloc(sizeof(*self));
  EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
  if (self != NULL && group != NULL && (self->context = BN_CTX_new()) != NULL && (self->sum = EC_POINT_new(group)) != NULL &&
      (self->second = EC_POINT_new(group)) != NULL && pthread_setspecific(scratch_key, self) == 0) {
    EC_GROUP_free(group);
    return self;
  }
  EC_GROUP_free(group);
  scratch_free(self);
  return NULL;
}

/* product = scalar * point. Zero times the generator is added, because for a sum of two multiples OpenSSL does not use its constant-time
   ladder, which is slower and which only secret scalars need. */
static int multiple(const EC_GROUP *group, EC_POINT *product, const EC_POINT *point, const BIGNUM *scalar, BN_CTX *context) {
  BN_CTX_start(context);
  BIGNUM *zero = BN_CTX_get(context);
  int made = zero != NULL && BN_set_word(zero, 0) && EC_POINT_mul(group, product, zero, point, scalar, context);
  BN_CTX_end(context);
  return made;
}

/* sum = u1 G + u2 Q, where G is the generator and Q the key's point. `second` is memory for another point of P-256. */
static int double_multiple(
    const copenssl_fixed_point *self, EC_POINT *sum, EC_POINT *second, const BIGNUM *u1, const BIGNUM *u2, BN_CTX *context) {
  const EC_GROUP *group = self->curve.group;
  if (self->key_group == NULL) {
    uint8_t scalar[48];
    int added = self->table != NULL ? EC_POINT_set_to_infinity(group, sum) && BN_bn2binpad(u2, scalar, 48) == 48 &&
                                          table_add(group, sum, self->table, scalar, context)
                                    : multiple(group, sum, self->point, u2, context);
    return added && BN_bn2binpad(u1, scalar, 48) == 48 && table_add(group, sum, p384.table, scalar, context);
  }
  return EC_POINT_mul(group, sum, u1, NULL, NULL, context) && EC_POINT_mul(self->key_group, second, u2, NULL, NULL, context) &&
         EC_POINT_add(group, sum, sum, second, context);
}

/* w = 1/s modulo the order, in Montgomery form. The result of copenssl_modular_inverse is used only if OpenSSL multiplies it with s and
   gets one. Otherwise OpenSSL computes the inverse. */
static int invert(const curve *curve, BIGNUM *w, const BIGNUM *s, BN_CTX *context) {
  uint8_t s_bytes[48], inverse[48];
  int width = (int)curve->modulus.width;
  BN_CTX_start(context);
  BIGNUM *product = BN_CTX_get(context);
  int is_right = product != NULL && BN_bn2binpad(s, s_bytes, width) == width &&
                 copenssl_modular_inverse(&curve->modulus, s_bytes, inverse) && BN_bin2bn(inverse, width, w) && BN_cmp(w, curve->n) < 0 &&
                 BN_to_montgomery(w, w, curve->order, context) && BN_mod_mul_montgomery(product, s, w, curve->order, context) &&
                 BN_is_one(product);
  BN_CTX_end(context);
  return is_right || (BN_mod_inverse(w, s, curve->n, context) && BN_to_montgomery(w, w, curve->order, context));
}

/* Returns 1 if the point's x is r modulo the order, 0 if it is not, or -1 if OpenSSL fails. OpenSSL stores X and Z, and x is X / Z^2. Here
   r Z^2 is compared with X, because that needs no inversion. */
static int has_x(const curve *curve, const EC_POINT *point, const BIGNUM *r, BN_CTX *context) {
  int result = -1;
  BN_CTX_start(context);
  BIGNUM *x = BN_CTX_get(context), *z = BN_CTX_get(context), *candidate = BN_CTX_get(context), *product = BN_CTX_get(context);
  if (product == NULL || !EC_POINT_get_Jprojective_coordinates_GFp(curve->group, point, x, NULL, z, context)) goto end;
  /* z = Z^2 in Montgomery form. */
  if (!BN_to_montgomery(product, z, curve->field, context) || !BN_mod_mul_montgomery(z, product, z, curve->field, context) ||
      !BN_to_montgomery(z, z, curve->field, context)) {
    goto end;
  }
  if (!BN_mod_mul_montgomery(product, r, z, curve->field, context)) goto end;
  result = BN_cmp(product, x) == 0;
  if (result) goto end;
  /* The field's prime p is greater than the order n, so x may also be r + n, if that is less than p. */
  result = -1;
  if (!BN_add(candidate, r, curve->n)) goto end;
  if (BN_cmp(candidate, curve->p) >= 0) {
    result = 0;
    goto end;
  }
  if (!BN_mod_mul_montgomery(product, candidate, z, curve->field, context)) goto end;
  result = BN_cmp(product, x) == 0;
end:
  BN_CTX_end(context);
  return result;
}

/* A signature whose r and s are in range. */
typedef struct {
  /* Its index among the caller's signatures. */
  size_t index;
  /* z is the digest as a number. s and w are in Montgomery form. w is first the product of the s up to this item, then 1/s. */
  BIGNUM *r, *z, *s, *w;
} item;

/* Reads a signature and its digest. s is not in Montgomery form yet. Returns 1, 0 if r or s is out of range, or -1 if OpenSSL fails. */
static int read_item(
    const curve *curve, item *self, const uint8_t *digest, size_t digest_length, const uint8_t *signature, BN_CTX *context) {
  int width = (int)curve->modulus.width;
  int used = digest_length < (size_t)width ? (int)digest_length : width;
  self->r = BN_CTX_get(context);
  self->z = BN_CTX_get(context);
  self->s = BN_CTX_get(context);
  self->w = BN_CTX_get(context);
  if (self->w == NULL) return -1;
  if (!BN_bin2bn(signature, width, self->r) || !BN_bin2bn(signature + width, width, self->s) || !BN_bin2bn(digest, used, self->z)) {
    return -1;
  }
  if (BN_is_zero(self->r) || BN_is_zero(self->s) || BN_cmp(self->r, curve->n) >= 0 || BN_cmp(self->s, curve->n) >= 0) return 0;
  /* A number of the order's width is less than twice the order, so one subtraction reduces it. */
  if (BN_cmp(self->z, curve->n) >= 0 && !BN_sub(self->z, self->z, curve->n)) return -1;
  return 1;
}

/* Computes w = 1/s of all items with one inversion (Montgomery's trick): the inverse of the product of all s, times all s but one, is the
   inverse of that one. */
static int invert_all(const curve *curve, item *all, size_t count, BN_CTX *context) {
  int made = 0;
  BN_CTX_start(context);
  BIGNUM *product = BN_CTX_get(context), *w = BN_CTX_get(context);
  if (w == NULL) goto end;
  for (size_t index = 0; index < count; index++) {
    if (!BN_to_montgomery(all[index].s, all[index].s, curve->order, context)) goto end;
    if (index == 0 ? !BN_copy(all[0].w, all[0].s)
                   : !BN_mod_mul_montgomery(all[index].w, all[index - 1].w, all[index].s, curve->order, context)) {
      goto end;
    }
  }
  if (!BN_from_montgomery(product, all[count - 1].w, curve->order, context) || !invert(curve, w, product, context)) goto end;
  /* w is the inverse of the product of the s up to index. */
  for (size_t index = count - 1; index > 0; index--) {
    if (!BN_mod_mul_montgomery(all[index].w, w, all[index - 1].w, curve->order, context)) goto end;
    if (!BN_mod_mul_montgomery(w, w, all[index].s, curve->order, context)) goto end;
  }
  made = BN_copy(all[0].w, w) != NULL;
end:
  BN_CTX_end(context);
  return made;
}

/* Returns 1 if the key signed the digest, 0 if it did not, or -1 if OpenSSL fails. */
static int verify_item(const copenssl_fixed_point *self, const item *one, EC_POINT *sum, EC_POINT *second, BN_CTX *context) {
  const curve *curve = &self->curve;
  int result = -1;
  BN_CTX_start(context);
  BIGNUM *u1 = BN_CTX_get(context), *u2 = BN_CTX_get(context);
  /* u1 = z / s and u2 = r / s. */
  if (u2 != NULL && BN_mod_mul_montgomery(u1, one->z, one->w, curve->order, context) &&
      BN_mod_mul_montgomery(u2, one->r, one->w, curve->order, context) && double_multiple(self, sum, second, u1, u2, context)) {
    result = EC_POINT_is_at_infinity(curve->group, sum) ? 0 : has_x(curve, sum, one->r, context);
  }
  BN_CTX_end(context);
  return result;
}

/* The greatest number of signatures that share an inversion. Its share of a verification's cost is then very small already. */
enum { MAX_SHARING = 32 };

static void verify_together(
    const copenssl_fixed_point *self, size_t count, const uint8_t *digests, size_t digest_length, const uint8_t *signatures,
    int8_t *results) {
  item all[MAX_SHARING];
  size_t used = 0;
  int failed = 1;
  memset(results, -1, count);
  scratch *own = scratch_get();
  if (own == NULL) return;
  BN_CTX *context = own->context;
  BN_CTX_start(context);
  EC_POINT *sum = self->key_group != NULL ? own->sum : EC_POINT_new(self->curve.group);
  if (sum == NULL) goto end;
  for (size_t index = 0; index < count; index++) {
    int in_range =
        read_item(&self->curve, &all[used], digests + index * digest_length, digest_length, signatures + index * 2 * self->width, context);
    if (in_range < 0) goto end;
    if (in_range) all[used++].index = index;
    else results[index] = 0;
  }
  if (used > 0 && !invert_all(&self->curve, all, used, context)) goto end;
  failed = 0;
  for (size_t i = 0; i < used; i++) {
    int result = verify_item(self, &all[i], sum, own->second, context);
    results[all[i].index] = (int8_t)result;
    if (result < 0) failed = 1;
  }
end:
  if (self->key_group == NULL) EC_POINT_free(sum);
  BN_CTX_end(context);
  if (failed) ERR_clear_error();
}

void copenssl_fixed_point_verify(
    const copenssl_fixed_point *self, size_t count, const uint8_t *digests, size_t digest_length, const uint8_t *signatures,
    int8_t *results) {
  for (size_t done = 0; done < count; done += MAX_SHARING) {
    size_t part = count - done < MAX_SHARING ? count - done : MAX_SHARING;
    verify_together(self, part, digests + done * digest_length, digest_length, signatures + done * 2 * self->width, results + done);
  }
}

int copenssl_p384_verify(
    const uint8_t *encoded, size_t length, const uint8_t *digest, size_t digest_length, const uint8_t *signature) {
  if (!has_p384()) {
    ERR_clear_error();
    return -1;
  }
  copenssl_fixed_point key = {.width = 48, .curve = p384.curve, .point = EC_POINT_new(p384.curve.group)};
  int8_t result = -1;
  if (key.point != NULL && EC_POINT_oct2point(p384.curve.group, key.point, encoded, length, NULL) &&
      !EC_POINT_is_at_infinity(p384.curve.group, key.point)) {
    copenssl_fixed_point_verify(&key, 1, digest, digest_length, signature, &result);
  }
  EC_POINT_free(key.point);
  if (result < 0) ERR_clear_error();
  return result;
}
