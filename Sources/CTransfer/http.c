#include "ctransfer_http.h"
#include <curl/curl.h>
#include <errno.h>
#include <locale.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct ctransfer {
  CURLM *multi;
  CURL *easy;
  struct curl_slist *headers;
  struct ctransfer_sink sink;
  char *authorities_file;
  char *authorities_folder;
  struct ctransfer_result result;
  // The TLS connections report alerts; the peer has announced the end.
  int sees_alerts;
  int was_closed;
  int running;
  char error[CURL_ERROR_SIZE];
};

// The index of the transfer in its SSL_CTX.
static int transfer_index = -1;

int32_t ctransfer_start(void) {
  transfer_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL);
  // libcurl converts international host names from the locale's encoding: manifests are UTF-8.
  setlocale(LC_CTYPE, "C.UTF-8");
  return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? 0 : -1;
}

static size_t take_line(char *bytes, size_t size, size_t count, void *user) {
  struct ctransfer *transfer = user;
  return transfer->sink.line(transfer->sink.context, bytes, size * count) == 0 ? size * count : 0;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *user) {
  struct ctransfer *transfer = user;
  // Any other value than the count ends the transfer; the count may be 0.
  return transfer->sink.body(transfer->sink.context, bytes, size * count) == 0 ? size * count
                                                                              : size * count + 1;
}

static void take_tls_event(const SSL *ssl, int where, int value) {
  if ((where & SSL_CB_READ_ALERT) != SSL_CB_READ_ALERT) return;
  if ((value & 0xff) != SSL_AD_CLOSE_NOTIFY) return;
  struct ctransfer *transfer = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), transfer_index);
  if (transfer != NULL) transfer->was_closed = 1;
}

// Watches for TLS's end alert: libcurl accepts the end of the TCP connection as the end of the
// data.
static CURLcode watch_tls(CURL *easy, void *context, void *user) {
  (void)easy;
  struct ctransfer *transfer = user;
  if (transfer_index >= 0 && SSL_CTX_set_ex_data(context, transfer_index, transfer) == 1) {
    SSL_CTX_set_info_callback(context, take_tls_event);
    transfer->sees_alerts = 1;
  }
  return CURLE_OK;
}

struct ctransfer *ctransfer_create(struct ctransfer_sink sink, const char *authorities_file,
                                   const char *authorities_folder) {
  struct ctransfer *transfer = calloc(1, sizeof *transfer);
  if (transfer == NULL) return NULL;
  transfer->sink = sink;
  transfer->authorities_file = authorities_file ? strdup(authorities_file) : NULL;
  transfer->authorities_folder = authorities_folder ? strdup(authorities_folder) : NULL;
  transfer->multi = curl_multi_init();
  transfer->easy = curl_easy_init();
  if (transfer->multi == NULL || transfer->easy == NULL) {
    ctransfer_free(transfer);
    return NULL;
  }
  return transfer;
}

void ctransfer_free(struct ctransfer *transfer) {
  if (transfer == NULL) return;
  if (transfer->running) curl_multi_remove_handle(transfer->multi, transfer->easy);
  if (transfer->easy != NULL) curl_easy_cleanup(transfer->easy);
  if (transfer->multi != NULL) curl_multi_cleanup(transfer->multi);
  curl_slist_free_all(transfer->headers);
  free(transfer->authorities_file);
  free(transfer->authorities_folder);
  free(transfer);
}

// Keeps the first failure.
#define SET(option, value)                                                \
  do {                                                                    \
    if (code == CURLE_OK) code = curl_easy_setopt(easy, option, (value)); \
  } while (0)

static CURLcode set_options(struct ctransfer *transfer, const struct ctransfer_request *request) {
  CURL *easy = transfer->easy;
  CURLcode code = CURLE_OK;
  SET(CURLOPT_ERRORBUFFER, transfer->error);
  SET(CURLOPT_NOSIGNAL, 1L);
  SET(CURLOPT_URL, request->url);
  // Only the scheme that was validated; the caller handles redirects.
  SET(CURLOPT_PROTOCOLS_STR, request->is_file ? "file" : "http,https");
  SET(CURLOPT_FOLLOWLOCATION, 0L);
  SET(CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
  SET(CURLOPT_CONNECTTIMEOUT_MS, (long)request->connect_milliseconds);
  SET(CURLOPT_BUFFERSIZE, (long)request->receive_bytes);
  SET(CURLOPT_TCP_KEEPALIVE, 1L);
  SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  SET(CURLOPT_HEADERFUNCTION, take_line);
  SET(CURLOPT_HEADERDATA, transfer);
  SET(CURLOPT_WRITEFUNCTION, take_body);
  SET(CURLOPT_WRITEDATA, transfer);
  SET(CURLOPT_HTTPHEADER, transfer->headers);
  if (code == CURLE_OK) {
    // Fails if libcurl uses another TLS library.
    (void)curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, watch_tls);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, transfer);
  }
  if (request->user_info != NULL) {
    SET(CURLOPT_USERPWD, request->user_info);
    SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
  }
  if (request->proxy != NULL) SET(CURLOPT_PROXY, request->proxy);
  if (request->no_proxy != NULL) SET(CURLOPT_NOPROXY, request->no_proxy);
  if (request->max_speed > 0) SET(CURLOPT_MAX_RECV_SPEED_LARGE, (curl_off_t)request->max_speed);
  if (transfer->authorities_file != NULL || transfer->authorities_folder != NULL) {
    // Without a file also libcurl's own, which may not exist.
    SET(CURLOPT_CAINFO, transfer->authorities_file);
    SET(CURLOPT_PROXY_CAINFO, transfer->authorities_file);
  }
  if (transfer->authorities_folder != NULL) {
    SET(CURLOPT_CAPATH, transfer->authorities_folder);
    SET(CURLOPT_PROXY_CAPATH, transfer->authorities_folder);
  }
  return code;
}

// `NAME:PASSWORD` percent-decoded for CURLOPT_USERPWD; NULL if there is no memory.
static char *decoded_user_info(CURL *easy, const char *user_info) {
  int length = 0;
  char *decoded = curl_easy_unescape(easy, user_info, 0, &length);
  if (decoded == NULL) return NULL;
  char *copy = strdup(decoded);
  curl_free(decoded);
  return copy;
}

// Makes a new handle for each transfer instead of reusing one: libcurl before 8.1 writes into freed
// header lines of the last transfer if the next header begins with a space, and 7.88 refuses
// CURLOPT_BUFFERSIZE after a failed connect. The multi handle keeps the connections; a new handle
// costs a microsecond.
static CURLcode make_handle(struct ctransfer *transfer, const struct ctransfer_request *request) {
  CURL *easy = curl_easy_init();
  if (easy == NULL) return CURLE_OUT_OF_MEMORY;
  curl_easy_cleanup(transfer->easy);
  transfer->easy = easy;
  curl_slist_free_all(transfer->headers);
  transfer->headers = NULL;
  for (size_t index = 0; index < request->header_count; index++) {
    struct curl_slist *longer = curl_slist_append(transfer->headers, request->headers[index]);
    if (longer == NULL) return CURLE_OUT_OF_MEMORY;
    transfer->headers = longer;
  }
  struct ctransfer_request decoded = *request;
  char *user_info = NULL;
  if (request->user_info != NULL) {
    user_info = decoded_user_info(transfer->easy, request->user_info);
    if (user_info == NULL) return CURLE_OUT_OF_MEMORY;
    decoded.user_info = user_info;
  }
  CURLcode code = set_options(transfer, &decoded);
  free(user_info);
  return code;
}

int32_t ctransfer_begin(struct ctransfer *transfer, const struct ctransfer_request *request) {
  transfer->error[0] = 0;
  transfer->result = (struct ctransfer_result){0};
  transfer->was_closed = 0;
  CURLcode code = make_handle(transfer, request);
  if (code != CURLE_OK) return code;
  if (curl_multi_add_handle(transfer->multi, transfer->easy) != CURLM_OK) {
    return CURLE_FAILED_INIT;
  }
  transfer->running = 1;
  return 0;
}

static void finish(struct ctransfer *transfer, CURLcode code) {
  transfer->result.code = code;
  char *scheme = NULL;
  curl_easy_getinfo(transfer->easy, CURLINFO_SCHEME, &scheme);
  int is_tls = scheme != NULL && strcasecmp(scheme, "https") == 0;
  transfer->result.is_cut = is_tls && transfer->sees_alerts && !transfer->was_closed;
  long system_error = 0;
  curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &system_error);
  // A connection in progress is not the reason of a failure.
  transfer->result.system_error = system_error == EINPROGRESS ? 0 : (int32_t)system_error;
  curl_multi_remove_handle(transfer->multi, transfer->easy);
  transfer->running = 0;
}

int32_t ctransfer_step(struct ctransfer *transfer, const int32_t *others, int32_t count,
                       int32_t milliseconds, int32_t *ready) {
  *ready = 0;
  int running = 0;
  if (curl_multi_perform(transfer->multi, &running) != CURLM_OK) return -1;
  int left = 0;
  CURLMsg *message;
  while ((message = curl_multi_info_read(transfer->multi, &left)) != NULL) {
    if (message->msg != CURLMSG_DONE) continue;
    finish(transfer, message->data.result);
    return 1;
  }
  if (count == 0 && milliseconds == 0) return 0;
  struct curl_waitfd extra[CTRANSFER_MOST_OTHERS];
  if (count > CTRANSFER_MOST_OTHERS) return -1;
  for (int32_t index = 0; index < count; index++) {
    extra[index] = (struct curl_waitfd){.fd = others[index], .events = CURL_WAIT_POLLIN};
  }
  CURLMcode code =
      curl_multi_poll(transfer->multi, extra, (unsigned int)count, milliseconds, NULL);
  for (int32_t index = 0; index < count; index++) {
    if (extra[index].revents != 0) *ready |= 1 << index;
  }
  return code == CURLM_OK ? 0 : -1;
}

void ctransfer_cancel(struct ctransfer *transfer) {
  if (!transfer->running) return;
  curl_multi_remove_handle(transfer->multi, transfer->easy);
  transfer->running = 0;
}

struct ctransfer_result ctransfer_result(struct ctransfer *transfer) { return transfer->result; }

void ctransfer_error_text(struct ctransfer *transfer, int32_t code, char *buffer, size_t size) {
  const char *text =
      transfer->error[0] != 0 ? transfer->error : curl_easy_strerror((CURLcode)code);
  snprintf(buffer, size, "%s", text);
}
