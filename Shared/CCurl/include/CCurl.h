#ifndef CCURL_H
#define CCURL_H
#include <curl/curl.h>

// curl_easy_setopt and its like take variable arguments, which Swift cannot call: one function a type of argument.
CURLcode attribution_curl_set_long(CURL *handle, CURLoption option, long value);
CURLcode attribution_curl_set_text(CURL *handle, CURLoption option, const char *value);
CURLcode attribution_curl_set_pointer(CURL *handle, CURLoption option, void *value);
CURLcode attribution_curl_set_bytes(CURL *handle, const void *bytes, curl_off_t count);
CURLcode attribution_curl_set_callback(CURL *handle, CURLoption option, size_t (*callback)(char *, size_t, size_t, void *));
CURLcode attribution_curl_get_long(CURL *handle, CURLINFO info, long *value);
CURLcode attribution_curl_get_pointer(CURL *handle, CURLINFO info, void **value);
CURLMcode attribution_curl_multi_set_long(CURLM *handle, CURLMoption option, long value);
// Ends connections whose other end has acknowledged nothing for so long.
CURLcode attribution_curl_limit_silence(CURL *handle, unsigned int milliseconds);

#endif
