#ifndef CCURL_H
#define CCURL_H
#include <curl/curl.h>

// curl_easy_setopt and similar functions are variadic, which Swift cannot call. So there is one function for each type of argument.
CURLcode attribution_curl_set_long(CURL *handle, CURLoption option, long value);
CURLcode attribution_curl_set_text(CURL *handle, CURLoption option, const char *value);
CURLcode attribution_curl_set_pointer(CURL *handle, CURLoption option, void *value);
CURLcode attribution_curl_set_bytes(CURL *handle, const void *bytes, curl_off_t count);
CURLcode attribution_curl_set_callback(CURL *handle, CURLoption option, size_t (*callback)(char *, size_t, size_t, void *));
CURLcode attribution_curl_get_long(CURL *handle, CURLINFO info, long *value);
CURLcode attribution_curl_get_pointer(CURL *handle, CURLINFO info, void **value);
CURLMcode attribution_curl_multi_set_long(CURLM *handle, CURLMoption option, long value);
// Ends connections whose peer has acknowledged nothing for that time.
CURLcode attribution_curl_limit_silence(CURL *handle, unsigned int milliseconds);

// Makes curl call `open` for each socket when the address is known. `open` may refuse the address by returning CURL_SOCKET_BAD.
CURLcode attribution_curl_set_socket_opener(CURL *handle, curl_opensocket_callback open, void *context);

// A multi handle that watches its sockets with epoll: the cost of a turn depends on the number of events and not on the number of waiting
// requests. All functions except attribution_post_loop_wake must be called on one thread.
struct attribution_post_loop;
struct attribution_post_loop *attribution_post_loop_make(void);
void attribution_post_loop_free(struct attribution_post_loop *loop);
CURLM *attribution_post_loop_multi(struct attribution_post_loop *loop);
// Ends the current turn, or the next one, early.
void attribution_post_loop_wake(struct attribution_post_loop *loop);
// Waits for an event for at most a second, and handles it.
void attribution_post_loop_turn(struct attribution_post_loop *loop);

#endif
