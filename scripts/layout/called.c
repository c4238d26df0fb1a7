// called PROGRAM ARGUMENT...: runs a program and prints the names of its functions that were entered, by it or by
// what it starts of the same program, in the order in which they lie in memory. What the program prints goes
// nowhere. Exits with what it exits with; with 125 where it cannot be traced.
//
// Each function begins with a breakpoint, which is taken away when a process comes to it (ptrace(2)).
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
static const unsigned char breakpoint[] = {0xcc};  // int3, behind which the process stops
static unsigned long long *counter(struct user_regs_struct *registers) { return &registers->rip; }
enum { PASSED = 1 };
#elif defined(__aarch64__)
static const unsigned char breakpoint[] = {0x00, 0x00, 0x20, 0xd4};  // brk #0, at which it stops
static unsigned long long *counter(struct user_regs_struct *registers) { return &registers->pc; }
enum { PASSED = 0 };
#else
#error "no breakpoint is known for this machine"
#endif

enum { OPTIONS = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                 PTRACE_O_EXITKILL,
       GENERAL_SET = 1 };

struct function {
  uintptr_t address;
  const char *name;
  int entered;
};

static struct function *functions;
static size_t function_count;
// The piece of the program that is executed, as it is in its file and with a breakpoint in each function.
static const unsigned char *code;
static unsigned char *armed;
static uintptr_t code_address;
static size_t code_size;
static struct stat program;

static void die(const char *what) {
  fprintf(stderr, "called: %s: %s\n", what, strerror(errno));
  exit(125);
}

static int by_address(const void *left, const void *right) {
  const struct function *a = left, *b = right;
  return a->address < b->address ? -1 : a->address > b->address;
}

static void read_program(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || fstat(file, &program) < 0) die(path);
  const unsigned char *image = mmap(NULL, (size_t)program.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (image == MAP_FAILED) die(path);
  close(file);
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_type != ET_EXEC) {
    errno = ENOEXEC;  // Nothing else lies in memory where its file says.
    die(path);
  }
  const Elf64_Phdr *segment = (const Elf64_Phdr *)(image + header->e_phoff);
  for (int index = 0; index < header->e_phnum; index++, segment++) {
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    code = image + segment->p_offset;
    code_address = segment->p_vaddr;
    code_size = segment->p_filesz;
  }
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + header->e_shoff);
  for (int index = 0; index < header->e_shnum; index++) {
    if (sections[index].sh_type != SHT_SYMTAB) continue;
    const Elf64_Sym *symbols = (const Elf64_Sym *)(image + sections[index].sh_offset);
    const char *names = (const char *)image + sections[sections[index].sh_link].sh_offset;
    size_t count = sections[index].sh_size / sizeof *symbols;
    functions = calloc(count, sizeof *functions);
    if (functions == NULL) die(path);
    for (size_t symbol = 0; symbol < count; symbol++) {
      uintptr_t address = symbols[symbol].st_value;
      if (ELF64_ST_TYPE(symbols[symbol].st_info) != STT_FUNC) continue;
      if (address < code_address || address + sizeof breakpoint > code_address + code_size) continue;
      functions[function_count++] = (struct function){address, names + symbols[symbol].st_name, 0};
    }
  }
  if (function_count == 0) {
    errno = ENOEXEC;
    die(path);
  }
  qsort(functions, function_count, sizeof *functions, by_address);
  armed = malloc(code_size);
  if (armed == NULL) die(path);
  memcpy(armed, code, code_size);
  for (size_t index = 0; index < function_count; index++) {
    memcpy(armed + (functions[index].address - code_address), breakpoint, sizeof breakpoint);
  }
}

static long request(enum __ptrace_request what, pid_t pid, uintptr_t data) {
  return ptrace(what, pid, NULL, (void *)data);
}

static void write_memory(pid_t pid, uintptr_t address, const unsigned char *bytes, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", pid);
  int memory = open(path, O_WRONLY | O_CLOEXEC);
  if (memory < 0) return;  // The process ended.
  while (size > 0) {
    ssize_t written = pwrite(memory, bytes, size, (off_t)address);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    bytes += written;
    address += (size_t)written;
    size -= (size_t)written;
  }
  close(memory);
}

static void executed(pid_t pid) {
  char path[64];
  struct stat file;
  snprintf(path, sizeof path, "/proc/%d/exe", pid);
  if (stat(path, &file) < 0 || file.st_dev != program.st_dev || file.st_ino != program.st_ino) return;
  write_memory(pid, code_address, armed, code_size);
}

// Whether the process stands at a breakpoint of ours, which is then gone.
static int passes(pid_t pid) {
  struct user_regs_struct registers;
  struct iovec block = {&registers, sizeof registers};
  if (ptrace(PTRACE_GETREGSET, pid, (void *)GENERAL_SET, &block) < 0) return 0;
  struct function wanted = {(uintptr_t)*counter(&registers) - PASSED, NULL, 0};
  struct function *found = bsearch(&wanted, functions, function_count, sizeof wanted, by_address);
  if (found == NULL) return 0;
  while (found > functions && found[-1].address == wanted.address) found--;
  for (; found < functions + function_count && found->address == wanted.address; found++) found->entered = 1;
  write_memory(pid, wanted.address, code + (wanted.address - code_address), sizeof breakpoint);
  *counter(&registers) = wanted.address;
  return ptrace(PTRACE_SETREGSET, pid, (void *)GENERAL_SET, &block) == 0;
}

static void take(pid_t pid, int status) {
  if (WIFEXITED(status) || WIFSIGNALED(status)) return;
  int signal = WSTOPSIG(status), event = status >> 16;
  if (event == PTRACE_EVENT_EXEC) executed(pid);
  if (event != 0 || (signal == SIGTRAP && passes(pid))) signal = 0;
  request(PTRACE_CONT, pid, (uintptr_t)signal);
}

static pid_t start(char **words) {
  int gate[2];
  if (pipe2(gate, O_CLOEXEC) < 0) die("pipe");
  pid_t pid = fork();
  if (pid < 0) die("fork");
  if (pid == 0) {
    char byte;
    ssize_t count;
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int number = 0; number < 3; number++) dup2(nowhere, number);
    close(gate[1]);
    while ((count = read(gate[0], &byte, 1)) < 0 && errno == EINTR) continue;
    if (count == 1) execv(words[0], words);  // Nobody watches it else.
    _exit(126);
  }
  if (request(PTRACE_SEIZE, pid, OPTIONS) < 0) die("cannot trace");
  if (write(gate[1], "", 1) != 1) die("pipe");
  close(gate[0]);
  close(gate[1]);
  return pid;
}

int main(int count, char **words) {
  if (count < 2) {
    fprintf(stderr, "usage: called PROGRAM ARGUMENT...\n");
    return 125;
  }
  read_program(words[1]);
  pid_t root = start(words + 1);
  int ended = 125;
  for (;;) {
    int status;
    pid_t pid = waitpid(-1, &status, __WALL);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) break;  // All have ended.
    take(pid, status);
    if (pid == root && WIFEXITED(status)) ended = WEXITSTATUS(status);
  }
  for (size_t index = 0; index < function_count; index++) {
    if (functions[index].entered) puts(functions[index].name);
  }
  if (fflush(stdout) != 0) die("standard output");
  return ended;
}
