/* What the kernels of src/whatif are compared to: the same work in C. Reads a trace, prints figures as one line of JSON.
 *
 *   kernels curve   TRACE ROUNDS
 *   kernels replay  TRACE ROUNDS DELAY_MS LATENCY_MS
 *   kernels coupled TRACE ROUNDS DELAY_MS LATENCY_MS PREPARED_MS POOL REFILL_MS CONCURRENT
 *
 * TRACE: doubles. Number of computes, start and end of the period, number of requests of each compute; then all arrivals, then all durations. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONGEST_S = 604800, BINS = LONGEST_S + 2 };

typedef struct {
  long computes, requests;
  double start_at, end_at;
  long *first; /* of each compute, and one behind the last */
  double *at, *duration;
} Trace;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static Trace read_trace(const char *path) {
  FILE *file = fopen(path, "rb");
  Trace trace;
  double head[3];
  if (file == NULL || fread(head, 8, 3, file) != 3) exit(2);
  trace.computes = (long)head[0];
  trace.start_at = head[1];
  trace.end_at = head[2];
  trace.first = malloc((trace.computes + 1) * sizeof(long));
  trace.first[0] = 0;
  for (long c = 0; c < trace.computes; c++) {
    double count;
    if (fread(&count, 8, 1, file) != 1) exit(2);
    trace.first[c + 1] = trace.first[c] + (long)count;
  }
  trace.requests = trace.first[trace.computes];
  trace.at = malloc(trace.requests * 8);
  trace.duration = malloc(trace.requests * 8);
  if (fread(trace.at, 8, trace.requests, file) != (size_t)trace.requests) exit(2);
  if (fread(trace.duration, 8, trace.requests, file) != (size_t)trace.requests) exit(2);
  fclose(file);
  return trace;
}

/* ---- The gap histogram: every delay at once. ---- */

static double curve(const Trace *trace, double *bins, double *cold_at_300) {
  memset(bins, 0, 2 * BINS * 8);
  double span = 0;
  for (long c = 0; c < trace->computes; c++) {
    const double *at = trace->at, *duration = trace->duration;
    long i = trace->first[c], end = trace->first[c + 1];
    if (i == end) continue;
    double first_at = at[i], busy_end = at[i];
    for (; i < end; i++) {
      double gap = at[i] - busy_end, until = at[i] + duration[i];
      if (gap > 0) {
        long bin = gap > LONGEST_S * 1000.0 ? LONGEST_S + 1 : (long)ceil(gap * 0.001);
        bins[2 * bin] += 1;
        bins[2 * bin + 1] += gap;
      }
      if (until > busy_end) busy_end = until;
    }
    span += busy_end - first_at;
  }
  *cold_at_300 = 0;
  for (long bin = 301; bin < BINS; bin++) *cold_at_300 += bins[2 * bin];
  return span;
}

/* ---- Each compute by itself, under one delay. ---- */

typedef struct { double cold, active, waited, wait_sum; } Outcome;

static Outcome replay(const Trace *trace, double delay, double latency, double *waits) {
  Outcome o = {0, 0, 0, 0};
  for (long c = 0; c < trace->computes; c++) {
    double awake_since = 0, ready_at = 0, busy_end = -INFINITY;
    for (long i = trace->first[c]; i < trace->first[c + 1]; i++) {
      double at = trace->at[i], duration = trace->duration[i];
      if (at > busy_end + delay) {
        if (busy_end > 0) {
          o.active += busy_end + delay - awake_since;
          o.cold += 1;
        }
        awake_since = at;
        busy_end = ready_at = at + latency;
      }
      double begin = at;
      if (at < ready_at) {
        begin = ready_at;
        waits[(long)(ready_at - at)] += 1;
        o.waited += 1;
        o.wait_sum += ready_at - at;
      }
      if (begin + duration > busy_end) busy_end = begin + duration;
    }
    if (busy_end > 0) o.active += fmin(busy_end + delay, trace->end_at) - awake_since;
  }
  return o;
}

/* ---- All on one clock: a pool of prepared computes and a limit of concurrent starts. ---- */

enum { ASLEEP, QUEUED, STARTING, ACTIVE };

typedef struct { double *at; int *node, *position; int length; } Heap;

static inline int before(double at, int node, double other_at, int other) { return at < other_at || (at == other_at && node < other); }

static void heap_set(Heap *h, int node, double at) {
  int position = h->position[node];
  double old = h->at[position];
  if (at < old) {
    while (position > 0) {
      int parent = (position - 1) >> 2;
      if (!before(at, node, h->at[parent], h->node[parent])) break;
      h->at[position] = h->at[parent];
      h->node[position] = h->node[parent];
      h->position[h->node[position]] = position;
      position = parent;
    }
  } else {
    for (int child = 4 * position + 1; child < h->length; child = 4 * position + 1) {
      int least = child, end = child + 4 < h->length ? child + 4 : h->length;
      for (int other = child + 1; other < end; other++)
        if (before(h->at[other], h->node[other], h->at[least], h->node[least])) least = other;
      if (before(at, node, h->at[least], h->node[least])) break;
      h->at[position] = h->at[least];
      h->node[position] = h->node[least];
      h->position[h->node[position]] = position;
      position = least;
    }
  }
  h->at[position] = at;
  h->node[position] = node;
  h->position[node] = position;
}

typedef struct { double cold, active, waited, wait_sum, hits, events; } Coupled;

static Coupled coupled(const Trace *t, double delay, double latency, double prepared, int pool, double refill, int concurrent) {
  Coupled o = {0, 0, 0, 0, 0, 0};
  int n = (int)t->computes;
  Heap h = {malloc(2 * n * 8), malloc(2 * n * 4), malloc(2 * n * 4), 2 * n};
  char *phase = calloc(n, 1), *used = calloc(n, 1);
  double *awake_since = calloc(n, 8), *ready_at = calloc(n, 8), *busy_end = calloc(n, 8), *prepared_at = malloc((pool + 1) * 8);
  long *cursor = malloc(n * sizeof(long)), *waiting_from = malloc(n * sizeof(long));
  int *queue = malloc(n * 4), queue_first = 0, queued = 0, under_way = 0, next_prepared = 0;
  for (int i = 0; i < 2 * n; i++) { h.at[i] = INFINITY; h.node[i] = h.position[i] = i; }
  for (int i = 0; i < pool; i++) prepared_at[i] = -INFINITY;
  for (int c = 0; c < n; c++) {
    cursor[c] = t->first[c];
    if (cursor[c] < t->first[c + 1]) heap_set(&h, n + c, t->at[cursor[c]]);
  }
#define START(c) do { \
    double takes = latency; \
    if (pool > 0 && prepared_at[next_prepared] <= now) { \
      takes = prepared; prepared_at[next_prepared] = now + refill; next_prepared = (next_prepared + 1) % pool; o.hits += 1; \
    } \
    phase[c] = STARTING; awake_since[c] = now; ready_at[c] = now + takes; heap_set(&h, c, ready_at[c] - 0.25); \
  } while (0)
  while (h.at[0] < t->end_at - 0.5) {
    int node = h.node[0];
    double now = round(h.at[0]);
    if (node >= n) {
      int c = node - n;
      long i = cursor[c]++;
      heap_set(&h, node, i + 1 < t->first[c + 1] ? t->at[i + 1] : INFINITY);
      o.events += 1;
      if (phase[c] == ACTIVE) {
        if (now + t->duration[i] > busy_end[c]) busy_end[c] = now + t->duration[i];
        continue;
      }
      if (phase[c] != ASLEEP) continue;
      if (used[c]) o.cold += 1;
      used[c] = 1;
      waiting_from[c] = i;
      if (under_way < concurrent) { under_way++; START(c); }
      else { phase[c] = QUEUED; queue[(queue_first + queued++) % n] = c; }
    } else if (phase[node] == STARTING) {
      int c = node;
      o.events += 1;
      phase[c] = ACTIVE;
      busy_end[c] = now;
      for (long i = waiting_from[c]; i < cursor[c]; i++) {
        if (now > t->at[i]) { o.waited += 1; o.wait_sum += now - t->at[i]; }
        if (now + t->duration[i] > busy_end[c]) busy_end[c] = now + t->duration[i];
      }
      heap_set(&h, c, busy_end[c] + delay + 0.375);
      under_way--;
      if (queued > 0) { int next = queue[queue_first]; queue_first = (queue_first + 1) % n; queued--; under_way++; START(next); }
    } else if (busy_end[node] + delay > now) {
      heap_set(&h, node, busy_end[node] + delay + 0.375);
    } else {
      o.events += 1;
      phase[node] = ASLEEP;
      o.active += now - awake_since[node];
      heap_set(&h, node, INFINITY);
    }
  }
  for (int c = 0; c < n; c++) if (phase[c] >= STARTING) o.active += t->end_at - awake_since[c];
  free(h.at); free(h.node); free(h.position); free(phase); free(used); free(awake_since); free(ready_at); free(busy_end);
  free(prepared_at); free(cursor); free(waiting_from); free(queue);
  return o;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  Trace trace = read_trace(argv[2]);
  double argument[8] = {0};
  for (int i = 4; i < argc && i < 12; i++) argument[i - 4] = atof(argv[i]);
  double best = INFINITY, *bins = malloc(2 * BINS * 8), cold = 0, span = 0, *waits = calloc(600001, 8);
  Outcome o = {0, 0, 0, 0};
  Coupled k = {0, 0, 0, 0, 0, 0};
  for (int round = 0; round < atoi(argv[3]); round++) {
    double since = seconds();
    if (strcmp(argv[1], "curve") == 0) span = curve(&trace, bins, &cold);
    else if (strcmp(argv[1], "replay") == 0) o = replay(&trace, argument[0], argument[1], waits);
    else k = coupled(&trace, argument[0], argument[1], argument[2], (int)argument[3], argument[4], (int)argument[5]);
    double took = seconds() - since;
    if (took < best) best = took;
  }
  if (strcmp(argv[1], "curve") == 0) printf("{\"perSecond\":%.0f,\"cold\":%.0f,\"spanMs\":%.0f}\n", trace.requests / best, cold, span);
  else if (strcmp(argv[1], "replay") == 0)
    printf("{\"perSecond\":%.0f,\"cold\":%.0f,\"activeMs\":%.0f,\"waitMs\":%.0f}\n", trace.requests / best, o.cold, o.active, o.wait_sum);
  else
    printf("{\"perSecond\":%.0f,\"cold\":%.0f,\"activeMs\":%.0f,\"waitMs\":%.0f,\"hits\":%.0f,\"events\":%.0f}\n", k.events / best, k.cold,
           k.active, k.wait_sum, k.hits, k.events);
  return 0;
}
