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

// Has `open` make each socket, or refuse to by CURL_SOCKET_BAD, when the address to connect to is known.
CURLcode attribution_curl_set_socket_opener(CURL *handle, curl_opensocket_callback open, void *context);

// A multi handle whose sockets are watched by epoll: a turn costs as much as there is to do, however many requests wait for an answer.
// All but attribution_post_loop_wake belongs to one thread.
struct attribution_post_loop;
struct attribution_post_loop *attribution_post_loop_make(void);
void attribution_post_loop_free(struct attribution_post_loop *loop);
CURLM *attribution_post_loop_multi(struct attribution_post_loop *loop);
// Ends the turn under way, or the next one, early.
void attribution_post_loop_wake(struct attribution_post_loop *loop);
// Waits for something to do, a second at the most, and does it.
void attribution_post_loop_turn(struct attribution_post_loop *loop);

#endif
