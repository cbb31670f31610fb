/* OpenSSL 3.0 deprecates these functions. Their replacements allocate three objects for each digest, which takes longer than a short
   digest. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "COpenSSL.h"
#include "Digest.h"

#include <openssl/sha.h>

int copenssl_sha256(const uint8_t *bytes, size_t length, uint8_t *digest) {
  SHA256_CTX state;
  int made = SHA256_Init(&state) && SHA256_Update(&state, bytes, length) && SHA256_Final(digest, &state);
  OPENSSL_cleanse(&state, sizeof(state));
  return made;
}
