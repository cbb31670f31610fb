/* OpenSSL 3.0 deprecates SHA256_Init, SHA256_Update and SHA256_Final. Their replacements allocate memory for each digest, which takes
   longer than the digest of a short message. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "COpenSSL.h"
#include "Digest.h"

int copenssl_sha256(const uint8_t *bytes, size_t length, uint8_t *digest) {
  SHA256_CTX state;
  int made = SHA256_Init(&state) && SHA256_Update(&state, bytes, length) && SHA256_Final(digest, &state);
  OPENSSL_cleanse(&state, sizeof(state));
  return made;
}

int copenssl_sha256_prefix_set(copenssl_sha256_prefix *self, const uint8_t *bytes, size_t length) {
  return SHA256_Init(&self->state) && SHA256_Update(&self->state, bytes, length);
}

int copenssl_sha256_after(const copenssl_sha256_prefix *prefix, const uint8_t *bytes, size_t length, uint8_t *digest) {
  SHA256_CTX state = prefix->state;
  int made = SHA256_Update(&state, bytes, length) && SHA256_Final(digest, &state);
  OPENSSL_cleanse(&state, sizeof(state));
  return made;
}

/* Begins a digest of HMAC with the key's block, each byte combined with the mask (RFC 2104: ipad or opad). */
static int begin_with_key(SHA256_CTX *state, const uint8_t *block, uint8_t mask) {
  uint8_t padded[SHA256_CBLOCK];
  for (size_t index = 0; index < sizeof(padded); index++) padded[index] = (uint8_t)(block[index] ^ mask);
  int made = SHA256_Init(state) && SHA256_Update(state, padded, sizeof(padded));
  OPENSSL_cleanse(padded, sizeof(padded));
  return made;
}

int copenssl_hmac_key_set(copenssl_hmac_key *self, const uint8_t *block) {
  return begin_with_key(&self->inner, block, 0x36) && begin_with_key(&self->outer, block, 0x5C);
}

int copenssl_hmac_sha256(const copenssl_hmac_key *key, const uint8_t *bytes, size_t length, uint8_t *mac) {
  SHA256_CTX state = key->inner;
  int made = SHA256_Update(&state, bytes, length) && SHA256_Final(mac, &state);
  if (made) {
    state = key->outer;
    made = SHA256_Update(&state, mac, SHA256_DIGEST_LENGTH) && SHA256_Final(mac, &state);
  }
  OPENSSL_cleanse(&state, sizeof(state));
  return made;
}
