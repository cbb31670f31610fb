#include "CZlib.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int attribution_gunzip(const unsigned char *bytes, size_t count, size_t limit, unsigned char **out, size_t *out_count) {
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return -1;
  size_t capacity = count * 4 + 1024;
  // One byte more than allowed tells "at the limit" from "past it".
  if (capacity > limit + 1) capacity = limit + 1;
  unsigned char *buffer = malloc(capacity);
  size_t filled = 0;
  int result = buffer ? 0 : -1;
  stream.next_in = (unsigned char *)bytes;
  stream.avail_in = (unsigned)count;
  while (result == 0) {
    stream.next_out = buffer + filled;
    stream.avail_out = (unsigned)(capacity - filled);
    int code = inflate(&stream, Z_NO_FLUSH);
    filled = capacity - stream.avail_out;
    if (filled > limit) result = -2;
    else if (code == Z_STREAM_END) break;
    else if (code != Z_OK && code != Z_BUF_ERROR) result = -1;
    else if (stream.avail_out == 0) {
      size_t larger = capacity * 2 > limit + 1 ? limit + 1 : capacity * 2;
      unsigned char *moved = larger > capacity ? realloc(buffer, larger) : NULL;
      if (!moved) result = -1;
      else { buffer = moved; capacity = larger; }
    } else if (stream.avail_in == 0) result = -1;
  }
  // Bytes after the stream would have no meaning.
  if (result == 0 && stream.avail_in != 0) result = -1;
  inflateEnd(&stream);
  if (result != 0) { free(buffer); return result; }
  *out = buffer;
  *out_count = filled;
  return 0;
}

int attribution_gzip(const unsigned char *bytes, size_t count, unsigned char **out, size_t *out_count) {
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  if (deflateInit2(&stream, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) return -1;
  size_t capacity = deflateBound(&stream, count);
  unsigned char *buffer = malloc(capacity);
  if (!buffer) { deflateEnd(&stream); return -1; }
  stream.next_in = (unsigned char *)bytes;
  stream.avail_in = (unsigned)count;
  stream.next_out = buffer;
  stream.avail_out = (unsigned)capacity;
  int code = deflate(&stream, Z_FINISH);
  *out_count = capacity - stream.avail_out;
  deflateEnd(&stream);
  if (code != Z_STREAM_END) { free(buffer); return -1; }
  *out = buffer;
  return 0;
}

void attribution_gzip_free(unsigned char *bytes) { free(bytes); }
