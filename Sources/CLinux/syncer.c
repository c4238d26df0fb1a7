#define _GNU_SOURCE
#include "clinux_syncer.h"
#include "masked_thread.h"
#include "notify.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct clinux_syncer {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t asked;
  int32_t descriptor;
  int32_t notify;
  // The lock protects the rest.
  uint64_t requested;
  uint64_t synced;
  int32_t first;
  int32_t error;
  int32_t stopping;
};

static int sync_data(int descriptor) {
  int result;
  do {
    result = fdatasync(descriptor);
  } while (result < 0 && errno == EINTR);
  return result < 0 ? errno : 0;
}

static int sync_and_close(int descriptor) {
  if (descriptor < 0) return 0;
  int error = sync_data(descriptor);
  // fdatasync(2) has already reported the errors of close(2).
  close(descriptor);
  return error;
}

static void *run(void *argument) {
  struct clinux_syncer *syncer = argument;
  pthread_mutex_lock(&syncer->lock);
  while (syncer->error == 0) {
    if (syncer->requested > syncer->synced) {
      uint64_t covered = syncer->requested;
      int32_t first = syncer->first;
      syncer->first = -1;
      pthread_mutex_unlock(&syncer->lock);
      int error = sync_and_close(first);
      if (error == 0) error = sync_data(syncer->descriptor);
      pthread_mutex_lock(&syncer->lock);
      if (error == 0) {
        syncer->synced = covered;
      } else {
        syncer->error = error;
      }
      clinux_notify(syncer->notify);
    } else if (syncer->stopping) {
      break;
    } else {
      pthread_cond_wait(&syncer->asked, &syncer->lock);
    }
  }
  pthread_mutex_unlock(&syncer->lock);
  return NULL;
}

struct clinux_syncer *clinux_syncer_start(int32_t descriptor, int32_t notify) {
  struct clinux_syncer *syncer = calloc(1, sizeof *syncer);
  if (syncer == NULL) return NULL;
  syncer->descriptor = descriptor;
  syncer->notify = notify;
  syncer->first = -1;
  pthread_mutex_init(&syncer->lock, NULL);
  pthread_cond_init(&syncer->asked, NULL);

  int error = clinux_create_masked(&syncer->thread, NULL, run, syncer);
  if (error == 0) return syncer;

  pthread_cond_destroy(&syncer->asked);
  pthread_mutex_destroy(&syncer->lock);
  free(syncer);
  errno = error;
  return NULL;
}

void clinux_syncer_request(struct clinux_syncer *syncer, uint64_t sequence, int32_t first) {
  int32_t replaced = first;
  pthread_mutex_lock(&syncer->lock);
  if (sequence > syncer->requested) {
    if (first >= 0) {
      replaced = syncer->first;
      syncer->first = first;
    }
    syncer->requested = sequence;
    pthread_cond_signal(&syncer->asked);
  }
  pthread_mutex_unlock(&syncer->lock);
  if (replaced >= 0) close(replaced);
}

int32_t clinux_syncer_result(struct clinux_syncer *syncer, uint64_t *sequence) {
  pthread_mutex_lock(&syncer->lock);
  *sequence = syncer->synced;
  int32_t error = syncer->error;
  pthread_mutex_unlock(&syncer->lock);
  return error;
}

void clinux_syncer_stop(struct clinux_syncer *syncer) {
  pthread_mutex_lock(&syncer->lock);
  syncer->stopping = 1;
  pthread_cond_signal(&syncer->asked);
  pthread_mutex_unlock(&syncer->lock);
  pthread_join(syncer->thread, NULL);
  if (syncer->first >= 0) close(syncer->first);
  pthread_cond_destroy(&syncer->asked);
  pthread_mutex_destroy(&syncer->lock);
  free(syncer);
}
