// What a bare libcurl multi loop reaches: posts so many tokens to the address, so many at once, and prints calls a second.
// cc -O2 -o multi multi.c -lcurl; ./multi URL CA-FILE COUNT CONCURRENCY CONNECTIONS
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct call {
  CURL *handle;
  char body[400];
  size_t received;
};

static size_t receive(char *bytes, size_t size, size_t count, void *own) {
  (void)bytes;
  ((struct call *)own)->received += size * count;
  return size * count;
}

static void begin(CURLM *multi, struct call *call, long number) {
  // As long as Apple's tokens, and no two alike.
  int length = snprintf(call->body, sizeof call->body, "%0320ld", number);
  call->received = 0;
  curl_easy_setopt(call->handle, CURLOPT_POSTFIELDSIZE, (long)length);
  curl_easy_setopt(call->handle, CURLOPT_POSTFIELDS, call->body);
  curl_multi_add_handle(multi, call->handle);
}

int main(int count, char **words) {
  if (count != 6) return 64;
  long wanted = atol(words[3]), together = atol(words[4]), begun = 0, ended = 0, failed = 0;
  curl_global_init(CURL_GLOBAL_ALL);
  CURLM *multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, atol(words[5]));
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  // As many as the broker has.
  curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 64L);
  struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: text/plain");
  headers = curl_slist_append(headers, "Accept: application/json");
  headers = curl_slist_append(headers, "Expect:");
  struct call *calls = calloc((size_t)together, sizeof *calls);
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  for (long index = 0; index < together && begun < wanted; index++) {
    CURL *handle = calls[index].handle = curl_easy_init();
    curl_easy_setopt(handle, CURLOPT_URL, words[1]);
    curl_easy_setopt(handle, CURLOPT_CAINFO, words[2]);
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
    curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(handle, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &calls[index]);
    curl_easy_setopt(handle, CURLOPT_PRIVATE, &calls[index]);
    begin(multi, &calls[index], begun++);
  }
  while (ended < wanted) {
    int running = 0, left = 0;
    CURLMsg *message;
    curl_multi_perform(multi, &running);
    while ((message = curl_multi_info_read(multi, &left))) {
      if (message->msg != CURLMSG_DONE) continue;
      struct call *call;
      long status = 0;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
      curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
      if (message->data.result != CURLE_OK || status != 200 || call->received == 0) {
        if (failed++ == 0) fprintf(stderr, "%s, status %ld\n", curl_easy_strerror(message->data.result), status);
      }
      curl_multi_remove_handle(multi, call->handle);
      ended++;
      if (begun < wanted) begin(multi, call, begun++);
    }
    if (ended < wanted) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  clock_gettime(CLOCK_MONOTONIC, &to);
  printf("%.1f %ld\n", (double)wanted / ((double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9), failed);
  return failed == 0 ? 0 : 1;
}
