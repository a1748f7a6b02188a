// A library for LD_PRELOAD that records what a process does to the files below one directory, and that makes
// chosen calls fail. Syncs are recorded but not executed: the recording decides what is durable.
//
// A process controls it by opening paths that do not exist:
//   /standin-storage/record/<log>/<directory>   starts a recording ('/' in the paths is written as '|')
//   /standin-storage/stop                       ends it
//   /standin-storage/mark/<number>              adds a marker to the recording
//   /standin-storage/fail/<calls>/<errno>/<after>/<count>/<short>
//       of the calls whose letters are in <calls> (w write, s sync, o open, t truncate, r read, u unlink and
//       rename), lets <after> pass and fails the next <count>; with <short> 1, the first writes half instead
//   /standin-storage/heal                       ends the failures
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_FD 65536
#define CONTROL "/standin-storage/"
#define REAL(name) ((__typeof__(&name))real(#name))

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static char tracked[MAX_FD];
static char directory[4096];
static int log_fd = -1;

static char fail_calls[16];
static int fail_errno, fail_after, fail_count, fail_short;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

struct record {
  uint8_t kind;
  uint8_t flag;
  uint16_t path_length;
  int32_t fd;
  uint64_t number;
  uint32_t data_length;
} __attribute__((packed));

static void put(const void *data, size_t length) {
  ssize_t (*real_write)(int, const void *, size_t) = real("write");
  if (length > 0 && real_write(log_fd, data, length) != (ssize_t)length) abort();
}

static void record(char kind, int flag, int fd, const char *path, uint64_t number, const void *data, size_t length) {
  if (log_fd < 0) return;
  struct record head = {kind, flag, path == NULL ? 0 : strlen(path), fd, number, length};
  put(&head, sizeof head);
  if (path != NULL) put(path, head.path_length);
  put(data, length);
}

static int is_below(const char *path) {
  if (log_fd < 0 || path == NULL) return 0;
  size_t length = strlen(directory), whole = strlen(path);
  // The directory itself, whose entries are synced, ends without the slash.
  if (whole + 1 == length && strncmp(path, directory, whole) == 0) return 1;
  if (strncmp(path, directory, length) != 0) return 0;
  // Shared memory is not on disk.
  return !(whole > 4 && strcmp(path + whole - 4, "-shm") == 0);
}

static int is_tracked(int fd) { return fd >= 0 && fd < MAX_FD && tracked[fd]; }

/** 0: let the call pass. 1: fail it; errno is set. 2: write half. */
static int failure_of(char call) {
  if (fail_count <= 0 || strchr(fail_calls, call) == NULL) return 0;
  if (fail_after > 0) {
    fail_after -= 1;
    return 0;
  }
  fail_count -= 1;
  record('E', call, -1, NULL, fail_errno, NULL, 0);
  if (fail_short && call == 'w') {
    fail_short = 0;
    return 2;
  }
  errno = fail_errno;
  return 1;
}

static void unescape(char *target, const char *source) {
  strcpy(target, source);
  for (char *at = target; *at; at++)
    if (*at == '|') *at = '/';
}

static int control(const char *command) {
  char log_path[4096], root[4096], escaped[4096], calls[16];
  int code, after, count, is_short;
  unsigned long number;
  if (sscanf(command, "record/%4095[^/]/%4095[^/]", escaped, root) == 2) {
    unescape(log_path, escaped);
    unescape(directory, root);
    if (log_fd >= 0) close(log_fd);
    log_fd = REAL(open64)(log_path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    memset(tracked, 0, sizeof tracked);
  } else if (strcmp(command, "stop") == 0) {
    if (log_fd >= 0) REAL(close)(log_fd);
    log_fd = -1;
    fail_count = 0;
    memset(tracked, 0, sizeof tracked);
  } else if (sscanf(command, "mark/%lu", &number) == 1) {
    record('M', 0, -1, NULL, number, NULL, 0);
  } else if (sscanf(command, "fail/%15[a-z]/%d/%d/%d/%d", calls, &code, &after, &count, &is_short) == 5) {
    strcpy(fail_calls, calls);
    fail_errno = code, fail_after = after, fail_count = count, fail_short = is_short;
  } else if (strcmp(command, "heal") == 0) {
    fail_count = 0;
  }
  errno = ENOENT;
  return -1;
}

int open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (strncmp(path, CONTROL, strlen(CONTROL)) != 0 && log_fd < 0) return REAL(open64)(path, flags, mode);
  pthread_mutex_lock(&mutex);
  int fd;
  if (strncmp(path, CONTROL, strlen(CONTROL)) == 0) fd = control(path + strlen(CONTROL));
  else if (!is_below(path)) {
    fd = REAL(open64)(path, flags, mode);
    // Node closes some descriptors without calling close().
    if (fd >= 0 && fd < MAX_FD) tracked[fd] = 0;
  }
  else if (failure_of('o')) fd = -1;
  else {
    int is_new = (flags & O_CREAT) && access(path, F_OK) != 0;
    fd = REAL(open64)(path, flags, mode);
    int code = errno;
    if (fd >= 0 && fd < MAX_FD) {
      tracked[fd] = 1;
      record('O', (is_new ? 1 : 0) | ((flags & O_TRUNC) ? 2 : 0), fd, path, 0, NULL, 0);
    }
    errno = code;
  }
  int code = errno;
  pthread_mutex_unlock(&mutex);
  errno = code;
  return fd;
}

int close(int fd) {
  pthread_mutex_lock(&mutex);
  if (is_tracked(fd)) tracked[fd] = 0;
  pthread_mutex_unlock(&mutex);
  return REAL(close)(fd);
}

static ssize_t write_at(int fd, const void *data, size_t length, off64_t offset) {
  ssize_t (*real_pwrite)(int, const void *, size_t, off64_t) = real("pwrite64");
  int failure = failure_of('w');
  if (failure == 1) return -1;
  if (failure == 2 && length > 1) length /= 2;
  ssize_t written = real_pwrite(fd, data, length, offset);
  if (written > 0) record('W', 0, fd, NULL, offset, data, written);
  return written;
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
  if (!is_tracked(fd)) return REAL(pwrite64)(fd, data, length, offset);
  pthread_mutex_lock(&mutex);
  ssize_t written = write_at(fd, data, length, offset);
  pthread_mutex_unlock(&mutex);
  return written;
}

/** Node closes some descriptors without calling close(), and one that wakes a new thread may have their number. */
static int is_file(int fd) {
  struct stat status;
  return is_tracked(fd) && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

ssize_t write(int fd, const void *data, size_t length) {
  if (!is_file(fd)) return REAL(write)(fd, data, length);
  pthread_mutex_lock(&mutex);
  off64_t offset = (fcntl(fd, F_GETFL) & O_APPEND) ? lseek64(fd, 0, SEEK_END) : lseek64(fd, 0, SEEK_CUR);
  ssize_t written = write_at(fd, data, length, offset);
  if (written > 0) lseek64(fd, offset + written, SEEK_SET);
  pthread_mutex_unlock(&mutex);
  return written;
}

/** The threads of a process read at the same time. */
static int read_fails(int fd) {
  if (!is_file(fd)) return 0;
  pthread_mutex_lock(&mutex);
  int failure = failure_of('r');
  int code = errno;
  pthread_mutex_unlock(&mutex);
  errno = code;
  return failure;
}

ssize_t pread64(int fd, void *data, size_t length, off64_t offset) {
  if (read_fails(fd)) return -1;
  return REAL(pread64)(fd, data, length, offset);
}

ssize_t read(int fd, void *data, size_t length) {
  if (read_fails(fd)) return -1;
  return REAL(read)(fd, data, length);
}

static int sync_file(int fd) {
  pthread_mutex_lock(&mutex);
  int failure = failure_of('s');
  int code = errno;
  record('S', failure, fd, NULL, 0, NULL, 0);
  pthread_mutex_unlock(&mutex);
  errno = code;
  return failure ? -1 : 0;
}

int fsync(int fd) { return is_tracked(fd) ? sync_file(fd) : REAL(fsync)(fd); }

int fdatasync(int fd) { return is_tracked(fd) ? sync_file(fd) : REAL(fdatasync)(fd); }

int ftruncate64(int fd, off64_t length) {
  if (!is_tracked(fd)) return REAL(ftruncate64)(fd, length);
  pthread_mutex_lock(&mutex);
  int result = failure_of('t') ? -1 : REAL(ftruncate64)(fd, length);
  int code = errno;
  if (result == 0) record('T', 0, fd, NULL, length, NULL, 0);
  pthread_mutex_unlock(&mutex);
  errno = code;
  return result;
}

int unlink(const char *path) {
  if (!is_below(path)) return REAL(unlink)(path);
  pthread_mutex_lock(&mutex);
  int result = failure_of('u') ? -1 : REAL(unlink)(path);
  int code = errno;
  if (result == 0) record('U', 0, -1, path, 0, NULL, 0);
  pthread_mutex_unlock(&mutex);
  errno = code;
  return result;
}

int rmdir(const char *path) {
  if (!is_below(path)) return REAL(rmdir)(path);
  pthread_mutex_lock(&mutex);
  int result = REAL(rmdir)(path);
  int code = errno;
  if (result == 0) record('D', 0, -1, path, 0, NULL, 0);
  pthread_mutex_unlock(&mutex);
  errno = code;
  return result;
}

int mkdir(const char *path, mode_t mode) {
  if (!is_below(path)) return REAL(mkdir)(path, mode);
  pthread_mutex_lock(&mutex);
  int result = REAL(mkdir)(path, mode);
  int code = errno;
  if (result == 0) record('K', 0, -1, path, 0, NULL, 0);
  pthread_mutex_unlock(&mutex);
  errno = code;
  return result;
}

int rename(const char *from, const char *to) {
  if (!is_below(from)) return REAL(rename)(from, to);
  pthread_mutex_lock(&mutex);
  int result = failure_of('u') ? -1 : REAL(rename)(from, to);
  int code = errno;
  if (result == 0) record('R', 0, -1, from, 0, to, strlen(to));
  pthread_mutex_unlock(&mutex);
  errno = code;
  return result;
}

/** A name for an existing file. */
int link(const char *from, const char *to) {
  if (!is_below(from)) return REAL(link)(from, to);
  pthread_mutex_lock(&mutex);
  int result = failure_of('u') ? -1 : REAL(link)(from, to);
  int code = errno;
  if (result == 0) record('L', 0, -1, from, 0, to, strlen(to));
  pthread_mutex_unlock(&mutex);
  errno = code;
  return result;
}

// Copies of files: without the calls that copy within the system, sendfile remains.

int ioctl(int fd, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  if (!is_tracked(fd)) return REAL(ioctl)(fd, request, argument);
  errno = EOPNOTSUPP;
  return -1;
}

long syscall(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  long a = va_arg(arguments, long), b = va_arg(arguments, long), c = va_arg(arguments, long);
  long d = va_arg(arguments, long), e = va_arg(arguments, long), f = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_copy_file_range && is_tracked(c)) {
    errno = ENOSYS;
    return -1;
  }
  return REAL(syscall)(number, a, b, c, d, e, f);
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t length) {
  if (!is_tracked(to)) return REAL(sendfile64)(to, from, offset, length);
  char data[65536];
  ssize_t (*real_pread)(int, void *, size_t, off64_t) = real("pread64");
  off64_t at = offset == NULL ? lseek64(from, 0, SEEK_CUR) : *offset;
  ssize_t count = real_pread(from, data, length < sizeof data ? length : sizeof data, at);
  if (count <= 0) return count;
  ssize_t written = write(to, data, count);
  if (written <= 0) return written;
  if (offset == NULL) lseek64(from, at + written, SEEK_SET);
  else *offset = at + written;
  return written;
}
