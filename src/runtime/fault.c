/* fault.c -- see fault.h. Everything here must be safe in a signal handler: no allocation, no locks, no
 * stdio. SPDX-License-Identifier: MIT */
#include "runtime/fault.h"

#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/task_impl.h"

enum { FRAMES_MAX = 48, ALT_STACK = 32 * 1024, FRAME_SPAN_MAX = 1024 * 1024 };

static char alt_stack[ALT_STACK];

static void put(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored; /* nobody is left to tell */
}

static void put_str(str s)
{
    ssize_t ignored = write(STDERR_FILENO, s.at != NULL ? s.at : "", s.len);
    (void)ignored;
}

static const char *signal_name(int signum)
{
    switch (signum) {
    case SIGSEGV:
        return "SIGSEGV (bad address, or out of stack)";
    case SIGBUS:
        return "SIGBUS (bad address)";
    case SIGFPE:
        return "SIGFPE (division by zero)";
    case SIGILL:
        return "SIGILL (bad instruction)";
    default:
        return "SIGABRT (a check failed)";
    }
}

/* Walks the chain of frame pointers: all our code is compiled with them. A frame must lie above the one
 * before it and near, so that a damaged stack ends the walk and not the handler. */
static int walk(const ucontext_t *uc, void *frames[FRAMES_MAX])
{
    int       n = 0;
    uintptr_t fp = 0;
#if defined(__x86_64__)
    frames[n++] = (void *)uc->uc_mcontext.gregs[REG_RIP];
    fp = (uintptr_t)uc->uc_mcontext.gregs[REG_RBP];
#elif defined(__aarch64__)
    frames[n++] = (void *)uc->uc_mcontext.pc;
    fp = (uintptr_t)uc->uc_mcontext.regs[29];
#else
    (void)uc;
#endif
    while (n < FRAMES_MAX && fp != 0 && fp % sizeof(uintptr_t) == 0) {
        const uintptr_t *frame = (const uintptr_t *)fp;
        if (frame[1] == 0)
            break;
        frames[n++] = (void *)frame[1];
        if (frame[0] <= fp || frame[0] - fp > FRAME_SPAN_MAX)
            break;
        fp = frame[0];
    }
    return n;
}

static void on_fault(int signum, siginfo_t *info, void *context)
{
    (void)info;
    void *frames[FRAMES_MAX];
    put("trestle: frames of the fault, innermost first:\n");
    backtrace_symbols_fd(frames, walk(context, frames), STDERR_FILENO);

    const task_impl *t = task_current();
    put("trestle: fatal ");
    put(signal_name(signum));
    if (t != NULL) {
        put(" in task '");
        put(t->name != NULL ? t->name : "?");
        put("', invocation '");
        put_str(t->log.invocation);
        put("'");
    } else {
        put(" outside of any task");
    }
    put("\n");
    (void)raise(signum); /* SA_RESETHAND: now the default, which ends the process by this signal */
}

void fault_install(void)
{
#if defined(__SANITIZE_ADDRESS__)
    return;
#endif
    /* A handler on the stack that overflowed would fault again. */
    stack_t stack = {.ss_sp = alt_stack, .ss_size = sizeof alt_stack};
    (void)sigaltstack(&stack, NULL); /* without it the handler still serves all but overflows */

    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND | SA_NODEFER};
    action.sa_sigaction = on_fault;
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        (void)sigaction(fatal[i], &action, NULL); /* fails only for signals that cannot be caught */
}
