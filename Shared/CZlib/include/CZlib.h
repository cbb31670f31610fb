#ifndef CZLIB_H
#define CZLIB_H
#include <stddef.h>

// Inflates one gzip stream into `out`, which has room for `limit` bytes and one more. Answers 0, or -1 when it is not one, or -2 when
// the result would pass `limit`; `out_count` is 0 then.
int attribution_gunzip(const unsigned char *bytes, size_t count, size_t limit, unsigned char *out, size_t *out_count);
// Deflates into one gzip stream. Answers 0, or -1 when there is no memory. `out` receives memory that attribution_gzip_free releases.
int attribution_gzip(const unsigned char *bytes, size_t count, unsigned char **out, size_t *out_count);
void attribution_gzip_free(unsigned char *bytes);

#endif
