#ifndef CCURL_H
#define CCURL_H
#include <curl/curl.h>

// curl_easy_setopt and similar functions are variadic, which Swift cannot call. So there is one function for each type of argument.
CURLcode attribution_curl_set_long(CURL *handle, CURLoption option, long value);
CURLcode attribution_curl_set_text(CURL *handle, CURLoption option, const char *value);
CURLcode attribution_curl_set_pointer(CURL *handle, CURLoption option, void *value);
// Sets the body of a request. curl copies it.
CURLcode attribution_curl_set_bytes(CURL *handle, const void *bytes, curl_off_t count);
CURLcode attribution_curl_set_callback(CURL *handle, CURLoption option, size_t (*callback)(char *, size_t, size_t, void *));
CURLcode attribution_curl_get_long(CURL *handle, CURLINFO info, long *value);
CURLcode attribution_curl_get_pointer(CURL *handle, CURLINFO info, void **value);
CURLMcode attribution_curl_multi_set_long(CURLM *handle, CURLMoption option, long value);
// Makes the system end a connection whose peer has not acknowledged the sent data for that time (TCP_USER_TIMEOUT).
CURLcode attribution_curl_limit_silence(CURL *handle, unsigned int milliseconds);

// Makes curl call `open` for each socket when the address is known. `open` may refuse the address by returning CURL_SOCKET_BAD.
CURLcode attribution_curl_set_socket_opener(CURL *handle, curl_opensocket_callback open, void *context);

// A multi handle of curl that watches its sockets with epoll: the cost of a turn depends on the number of events and not on the number of
// waiting requests. All functions except attribution_post_loop_wake must be called on one thread. PostLoop.swift is the only caller.
struct attribution_post_loop;
// Returns NULL without memory or descriptors.
struct attribution_post_loop *attribution_post_loop_make(void);
void attribution_post_loop_free(struct attribution_post_loop *loop);
// The multi handle, to add and remove requests and to read their results.
CURLM *attribution_post_loop_multi(struct attribution_post_loop *loop);
// Makes the current turn, or else the next one, wait no longer.
void attribution_post_loop_wake(struct attribution_post_loop *loop);
// One turn: waits for at most a second for events, and lets curl handle them.
void attribution_post_loop_turn(struct attribution_post_loop *loop);

#endif
