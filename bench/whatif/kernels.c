/* C versions of the kernels of src/whatif, with the same algorithms. Prints the results as one line of JSON.
 * Measures processor time, which excludes other processes of the machine.
 *
 *   kernels curve   TRACE ROUNDS
 *   kernels replay  TRACE ROUNDS DELAY_MS LATENCY_MS
 *   kernels coupled TRACE ROUNDS DELAY_MS LATENCY_MS PREPARED_MS POOL REFILL_MS CONCURRENT
 *
 * TRACE is a file of doubles: the number of computes, the start and the end of the period, the number of
 * requests of each compute, all arrival times, all durations. */
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
  long *first; /* index of the first request of each compute; the last element is `requests` */
  double *at, *duration;
} Trace;

static double processor_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
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

/* ---- Gap histogram: all delays in one pass ---- */

static double curve(const Trace *trace, double *bins, double *cold_at_300) {
  memset(bins, 0, 2 * BINS * 8);
  double span = 0;
  for (long c = 0; c < trace->computes; c++) {
    const double *at = trace->at, *duration = trace->duration;
    long i = trace->first[c], end = trace->first[c + 1];
    if (i == end) continue;
    double first_at = at[i], busy_end = at[i];
    for (; i < end; i++) {
      double gap = at[i] - busy_end, request_end = at[i] + duration[i];
      if (gap > 0) {
        long bin = gap > LONGEST_S * 1000.0 ? LONGEST_S + 1 : (long)ceil(gap * 0.001);
        bins[2 * bin] += 1;
        bins[2 * bin + 1] += gap;
      }
      if (request_end > busy_end) busy_end = request_end;
    }
    span += busy_end - first_at;
  }
  *cold_at_300 = 0;
  for (long bin = 301; bin < BINS; bin++) *cold_at_300 += bins[2 * bin];
  return span;
}

/* ---- Independent computes, one delay ---- */

typedef struct {
  double cold, active, starting, waited, wait_sum, *by_day, hits, events;
} Outcome;

enum { DAY = 86400000, LONGEST_WAIT = 600000 };

static Outcome empty_outcome(const Trace *t) {
  Outcome o = {0};
  o.by_day = calloc((long)ceil((t->end_at - t->start_at) / DAY) + 1, 8);
  return o;
}

static void add_active_time(Outcome *o, const Trace *t, double from, double ready_at, double to) {
  double end = fmin(to, t->end_at);
  o->active += end - from;
  o->starting += fmin(ready_at, end) - from;
  while (from < end) {
    long day = (long)((from - t->start_at) / DAY);
    double next = fmin(end, t->start_at + (day + 1.0) * DAY);
    o->by_day[day] += next - from;
    from = next;
  }
}

static void add_wait(Outcome *o, double *waits, double wait) {
  waits[wait < LONGEST_WAIT ? (long)wait : LONGEST_WAIT] += 1;
  o->waited += 1;
  o->wait_sum += wait;
}

static Outcome replay(const Trace *trace, double delay, double latency, double *waits) {
  Outcome o = empty_outcome(trace);
  for (long c = 0; c < trace->computes; c++) {
    double active_since = 0, ready_at = 0, busy_end = -INFINITY;
    for (long i = trace->first[c]; i < trace->first[c + 1]; i++) {
      double at = trace->at[i], duration = trace->duration[i];
      if (at > busy_end + delay) {
        if (busy_end > 0) {
          add_active_time(&o, trace, active_since, ready_at, busy_end + delay);
          o.cold += 1;
        }
        active_since = at;
        busy_end = ready_at = at + latency;
      }
      double service_start = at;
      if (at < ready_at) {
        service_start = ready_at;
        add_wait(&o, waits, ready_at - at);
      }
      if (service_start + duration > busy_end) busy_end = service_start + duration;
    }
    if (busy_end > 0) add_active_time(&o, trace, active_since, ready_at, busy_end + delay);
  }
  free(o.by_day);
  return o;
}

/* ---- Coupled computes: a pool of prepared computes and a limit of concurrent starts ---- */

enum { SUSPENDED, QUEUED, STARTING, ACTIVE };

typedef struct {
  double *at;
  int *node, *position;
  int length;
} Heap;

static inline int before(double at, int node, double other_at, int other) {
  return at < other_at || (at == other_at && node < other);
}

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

/* An arrival at an active compute does not affect other computes, so the heap contains only starts and
 * suspends. */
static Outcome coupled(const Trace *t, double delay, double latency, double prepared, int pool, double refill,
                       int concurrent, double *waits) {
  Outcome o = empty_outcome(t);
  int n = (int)t->computes;
  Heap h = {malloc(n * 8L), malloc(n * 4L), malloc(n * 4L), n};
  char *phase = calloc(n, 1), *used = calloc(n, 1);
  double *active_since = calloc(n, 8), *ready_at = calloc(n, 8), *prepared_at = malloc((pool + 1) * 8L);
  long *cursor = malloc(n * sizeof(long));
  int *queue = malloc(n * 4L), queue_first = 0, queued = 0, starting = 0, next_prepared = 0;
  for (int i = 0; i < n; i++) {
    h.at[i] = INFINITY;
    h.node[i] = h.position[i] = i;
  }
  for (int i = 0; i < pool; i++) prepared_at[i] = -INFINITY;
#define NEXT_AT(c) (cursor[c] < t->first[(c) + 1] ? t->at[cursor[c]] : INFINITY)
  for (int c = 0; c < n; c++) {
    cursor[c] = t->first[c];
    heap_set(&h, c, NEXT_AT(c));
  }
#define START(c)                                          \
  do {                                                   \
    double start_latency = latency;                      \
    if (pool > 0 && prepared_at[next_prepared] <= now) { \
      start_latency = prepared;                          \
      prepared_at[next_prepared] = now + refill;         \
      next_prepared = (next_prepared + 1) % pool;        \
      o.hits += 1;                                       \
    }                                                    \
    phase[c] = STARTING;                                 \
    active_since[c] = now;                               \
    ready_at[c] = now + start_latency;                   \
    heap_set(&h, c, ready_at[c] - 0.25);                 \
  } while (0)
  while (h.at[0] < t->end_at - 0.5) {
    int c = h.node[0];
    double now = round(h.at[0]);
    if (phase[c] == SUSPENDED) {
      if (used[c]) o.cold += 1;
      used[c] = 1;
      if (starting < concurrent) {
        starting++;
        START(c);
      } else {
        phase[c] = QUEUED;
        heap_set(&h, c, INFINITY);
        queue[(queue_first + queued++) % n] = c;
      }
    } else if (phase[c] == STARTING) {
      double busy_end = now;
      long i = cursor[c], end = t->first[c + 1];
      for (; i < end && t->at[i] < now; i++) {
        add_wait(&o, waits, now - t->at[i]);
        if (now + t->duration[i] > busy_end) busy_end = now + t->duration[i];
      }
      for (; i < end && t->at[i] <= busy_end + delay; i++)
        if (t->at[i] + t->duration[i] > busy_end) busy_end = t->at[i] + t->duration[i];
      o.events += 1 + i - cursor[c];
      cursor[c] = i;
      phase[c] = ACTIVE;
      heap_set(&h, c, busy_end + delay + 0.375);
      starting--;
      if (queued > 0) {
        int next = queue[queue_first];
        queue_first = (queue_first + 1) % n;
        queued--;
        starting++;
        START(next);
      }
    } else {
      o.events += 1;
      phase[c] = SUSPENDED;
      add_active_time(&o, t, active_since[c], ready_at[c], now);
      heap_set(&h, c, NEXT_AT(c));
    }
  }
  for (int c = 0; c < n; c++) {
    if (phase[c] == SUSPENDED) continue;
    o.events += t->first[c + 1] - cursor[c];
    double wait_end = phase[c] == STARTING ? ready_at[c] : t->end_at;
    for (long i = cursor[c]; i < t->first[c + 1]; i++) add_wait(&o, waits, wait_end - t->at[i]);
    if (phase[c] != QUEUED) add_active_time(&o, t, active_since[c], ready_at[c], t->end_at);
  }
  free(h.at);
  free(h.node);
  free(h.position);
  free(phase);
  free(used);
  free(active_since);
  free(ready_at);
  free(prepared_at);
  free(cursor);
  free(queue);
  free(o.by_day);
  return o;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  Trace trace = read_trace(argv[2]);
  double argument[8] = {0};
  for (int i = 4; i < argc && i < 12; i++) argument[i - 4] = atof(argv[i]);
  double fastest = INFINITY, *bins = malloc(2 * BINS * 8L), cold = 0, span = 0;
  double *waits = calloc(LONGEST_WAIT + 1, 8);
  Outcome o = {0};
  int is_curve = strcmp(argv[1], "curve") == 0, is_replay = strcmp(argv[1], "replay") == 0;
  for (int round = 0; round < atoi(argv[3]); round++) {
    double started_at = processor_seconds();
    if (is_curve)
      span = curve(&trace, bins, &cold);
    else if (is_replay)
      o = replay(&trace, argument[0], argument[1], waits);
    else
      o = coupled(&trace, argument[0], argument[1], argument[2], (int)argument[3], argument[4],
                  (int)argument[5], waits);
    double elapsed = processor_seconds() - started_at;
    if (elapsed < fastest) fastest = elapsed;
  }
  double amount = is_curve || is_replay ? trace.requests : o.events;
  printf("{\"perSecond\":%.0f,", amount / fastest);
  if (is_curve)
    printf("\"cold\":%.0f,\"spanMs\":%.0f}\n", cold, span);
  else
    printf("\"cold\":%.0f,\"activeMs\":%.0f,\"startingMs\":%.0f,\"waitMs\":%.0f,\"hits\":%.0f,"
           "\"events\":%.0f}\n",
           o.cold, o.active, o.starting, o.wait_sum, o.hits, o.events);
  return 0;
}
