/* Signing in batches with what random input never meets. The product's file is compiled here once more, with three functions of OpenSSL
   replaced, under other names than the product's. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

static int nonce_with_fault(BIGNUM *nonce, const BIGNUM *range, const BIGNUM *private_key, const unsigned char *message, size_t length,
                            BN_CTX *context);
static int multiply_with_fault(const EC_GROUP *group, EC_POINT *point, const BIGNUM *number, const EC_POINT *other, const BIGNUM *factor,
                               BN_CTX *context);
static int power_with_fault(BIGNUM *power, const BIGNUM *base, const BIGNUM *exponent, const BIGNUM *modulus, BN_CTX *context,
                            BN_MONT_CTX *montgomery);

#define BN_generate_dsa_nonce nonce_with_fault
#define EC_POINT_mul multiply_with_fault
#define BN_mod_exp_mont_consttime power_with_fault
#define copenssl_batch_key faulty_batch_key
#define copenssl_batch_key_free faulty_batch_key_free
#define copenssl_sign_batch faulty_sign_batch
#include "../../Shared/COpenSSL/batch_signing.c"
#undef BN_generate_dsa_nonce
#undef EC_POINT_mul
#undef BN_mod_exp_mont_consttime

#include "BatchSigningFaults.h"

enum { MOST = 64, FAULTY = 2 };

/* The state of one call of the product's code, for the replaced functions. Tests call from one thread at a time. */
static struct {
  int nonces, points, powers;
  /* In place of those of the faulty signature, if not NULL. */
  BIGNUM *nonce;
  EC_POINT *point;
  /* The number of the power that is made wrong, from 1; 0 for none. */
  int wrong_power;
  /* In place of the random bytes of a nonce, if not NULL. */
  const uint8_t *random_bytes;
} now;

static EC_KEY *keys[MOST];
static uint8_t digests[MOST * 32], signatures[MOST * 64];

/* As OpenSSL makes a nonce, from given random bytes: a digest of them, of the private key and of the message, reduced. */
static int nonce_of(BIGNUM *nonce, const BIGNUM *range, const BIGNUM *private_key, const unsigned char *message, size_t length,
                    const uint8_t *random_bytes, BN_CTX *context) {
  uint8_t input[32 + 64 + 64], digest[64];
  unsigned int size = sizeof digest;
  if (length > 64 || BN_bn2binpad(private_key, input, 32) != 32) return 0;
  memcpy(input + 32, message, length);
  memcpy(input + 32 + length, random_bytes, 64);
  return EVP_Digest(input, 32 + length + 64, digest, &size, EVP_sha512(), NULL) && BN_bin2bn(digest, 64, nonce) != NULL &&
         BN_nnmod(nonce, nonce, range, context);
}

static int nonce_with_fault(BIGNUM *nonce, const BIGNUM *range, const BIGNUM *private_key, const unsigned char *message, size_t length,
                            BN_CTX *context) {
  int index = now.nonces++;
  if (now.random_bytes != NULL) return nonce_of(nonce, range, private_key, message, length, now.random_bytes + 64 * index, context);
  if (index == FAULTY && now.nonce != NULL) return BN_copy(nonce, now.nonce) != NULL;
  return BN_generate_dsa_nonce(nonce, range, private_key, message, length, context);
}

static int multiply_with_fault(const EC_GROUP *group, EC_POINT *point, const BIGNUM *number, const EC_POINT *other, const BIGNUM *factor,
                               BN_CTX *context) {
  if (now.points++ == FAULTY && now.point != NULL) return EC_POINT_copy(point, now.point);
  return EC_POINT_mul(group, point, number, other, factor, context);
}

static int power_with_fault(BIGNUM *power, const BIGNUM *base, const BIGNUM *exponent, const BIGNUM *modulus, BN_CTX *context,
                            BN_MONT_CTX *montgomery) {
  int made = BN_mod_exp_mont_consttime(power, base, exponent, modulus, context, montgomery);
  if (++now.powers != now.wrong_power) return made;
  return made && (BN_is_bit_set(power, 77) ? BN_clear_bit(power, 77) : BN_set_bit(power, 77));
}

static int verifies(size_t index) {
  ECDSA_SIG *signature = ECDSA_SIG_new();
  BIGNUM *r = BN_bin2bn(signatures + 64 * index, 32, NULL), *s = BN_bin2bn(signatures + 64 * index + 32, 32, NULL);
  int verified = signature != NULL && ECDSA_SIG_set0(signature, r, s) && ECDSA_do_verify(digests + 32 * index, 32, signature, keys[index]) == 1;
  ECDSA_SIG_free(signature);
  return verified;
}

static struct batch_outcome sign(size_t count) {
  struct batch_outcome outcome = {.returned = -1};
  now.nonces = now.points = now.powers = 0;
  ERR_clear_error();
  memset(signatures, 0xee, sizeof signatures);
  outcome.returned = copenssl_sign_batch(keys, digests, count, signatures);
  outcome.error = ERR_peek_error();
  for (size_t i = 0; i < count; i++) outcome.verifying += verifies(i) ? 1 : 0;
  memcpy(outcome.r, signatures + 64 * FAULTY, 32);
  ERR_clear_error();
  return outcome;
}

static int make_keys(void) {
  for (size_t i = 0; i < MOST; i++) {
    if (keys[i] != NULL) continue;
    keys[i] = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
    if (keys[i] == NULL || !EC_KEY_generate_key(keys[i])) return 0;
  }
  return 1;
}

/* A point with this x, or the next greater one that a point has; with a Z coordinate other than one, as products have. */
static EC_POINT *point_from(const EC_GROUP *group, const BIGNUM *least, BN_CTX *context) {
  const BIGNUM *field = EC_GROUP_get0_field(group);
  EC_POINT *point = EC_POINT_new(group);
  BIGNUM *x = BN_dup(least), *y = BN_new(), *z = BN_new(), *factor = BN_new();
  while (EC_POINT_set_compressed_coordinates(group, point, x, 0, context) != 1) BN_add_word(x, 1);
  ERR_clear_error();
  EC_POINT_get_affine_coordinates(group, point, x, y, context);
  BN_set_word(z, 3);
  BN_mod_sqr(factor, z, field, context);
  BN_mod_mul(x, x, factor, field, context);
  BN_mod_mul(factor, factor, z, field, context);
  BN_mod_mul(y, y, factor, field, context);
  EC_POINT_set_Jprojective_coordinates_GFp(group, point, x, y, z, context);
  BN_free(x);
  BN_free(y);
  BN_free(z);
  BN_free(factor);
  return point;
}

/* The digest m = -r d makes s = (m + r d) / k zero. */
static void choose_zero_s(const EC_GROUP *group, BN_CTX *context) {
  const BIGNUM *order = EC_GROUP_get0_order(group);
  EC_POINT *point = EC_POINT_new(group);
  BIGNUM *x = BN_new(), *digest = BN_new();
  now.nonce = BN_new();
  BN_set_word(now.nonce, 5);
  EC_POINT_mul(group, point, now.nonce, NULL, NULL, context);
  EC_POINT_get_affine_coordinates(group, point, x, NULL, context);
  BN_nnmod(x, x, order, context);
  BN_mod_mul(digest, x, EC_KEY_get0_private_key(keys[FAULTY]), order, context);
  BN_sub(digest, order, digest);
  BN_bn2binpad(digest, digests + 32 * FAULTY, 32);
  BN_free(x);
  BN_free(digest);
  EC_POINT_free(point);
}

struct batch_outcome batch_sign_with_fault(enum batch_fault fault, size_t count) {
  struct batch_outcome outcome = {.returned = -1};
  BN_CTX *context = BN_CTX_new();
  if (context == NULL || count < FAULTY + 3 || count > MOST || !make_keys() || RAND_bytes(digests, sizeof digests) != 1) return outcome;
  const EC_GROUP *group = EC_KEY_get0_group(keys[0]);
  BIGNUM *zero = BN_new();
  BN_zero(zero);
  switch (fault) {
  case BATCH_FAULT_NONE: break;
  case BATCH_FAULT_ZERO_NONCE: now.nonce = BN_dup(zero); break;
  case BATCH_FAULT_X_PAST_ORDER: now.point = point_from(group, EC_GROUP_get0_order(group), context); break;
  case BATCH_FAULT_ZERO_R: now.point = point_from(group, zero, context); break;
  case BATCH_FAULT_ZERO_S: choose_zero_s(group, context); break;
  case BATCH_FAULT_INFINITY: now.point = EC_POINT_new(group); break;
  case BATCH_FAULT_ORDER_INVERSE: now.wrong_power = 1; break;
  case BATCH_FAULT_FIELD_INVERSE: now.wrong_power = 2; break;
  }
  outcome = sign(count);
  BN_free(zero);
  BN_free(now.nonce);
  EC_POINT_free(now.point);
  BN_CTX_free(context);
  memset(&now, 0, sizeof now);
  return outcome;
}

struct batch_outcome batch_sign_digests(const uint8_t *given, size_t count) {
  struct batch_outcome outcome = {.returned = -1};
  if (count > MOST || !make_keys()) return outcome;
  memcpy(digests, given, 32 * count);
  return sign(count);
}

size_t batch_sign_with_repeated_random_bytes(size_t count, int changes_digests) {
  uint8_t random_bytes[MOST * 64], first[MOST * 64];
  size_t same = 0;
  if (count > MOST || !make_keys() || RAND_bytes(digests, sizeof digests) != 1 || RAND_bytes(random_bytes, sizeof random_bytes) != 1) return 0;
  now.random_bytes = random_bytes;
  (void)sign(count);
  memcpy(first, signatures, sizeof first);
  if (changes_digests && RAND_bytes(digests, sizeof digests) != 1) return 0;
  (void)sign(count);
  now.random_bytes = NULL;
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < count; j++) same += memcmp(first + 64 * i, signatures + 64 * j, 32) == 0 ? 1 : 0;
  return same;
}
