"""fiber_gdb.py -- gdb commands for tasks that wait, whose stacks gdb does not know.

    gdb -p PID -x tests/support/fiber_gdb.py        (or a core file: gdb bin/trestle core -x …)
    (gdb) fiber-list             every live task: number, name, invocation, what it waits for
    (gdb) fiber-bt 2             the backtrace of the second
    (gdb) fiber-bt slow          that of the first task of this name

A parked fiber has left its registers on its own stack (src/runtime/fiber_ARCH.S) or, with -Dfiber=ucontext, in the
context that lies above it. From there the chain of frame pointers is walked: all our code is compiled with them. No
register of the process is changed, so this works on a core file, too.

SPDX-License-Identifier: MIT
"""
import gdb

FRAMES_MAX = 64


def static_variable(file, name):
    return gdb.parse_and_eval(f"'{file}'::{name}")


def live_tasks():
    """The task_impl structures, newest first, as task.c keeps them."""
    found = []
    task = static_variable("task.c", "tasks")["live"]
    while int(task) != 0:
        found.append(task)
        task = task["next_live"]
    return found


def text(view):
    """A `str` of ours as a Python string."""
    length = int(view["len"])
    return view["at"].string(length=length, errors="replace") if length else ""


def word_at(address):
    pointer = gdb.lookup_type("unsigned long").pointer()
    return int(gdb.Value(address).cast(pointer).dereference())


def saved_registers(fiber):
    """Program counter and frame pointer of a parked fiber."""
    machine = gdb.selected_inferior().architecture().name()
    sp = int(fiber["sp"])
    if sp == 0:  # ucontext; the numbers are REG_RIP and REG_RBP, or the aarch64 register
        context = fiber["stack"]["context"]["uc_mcontext"]
        if machine.startswith("aarch64"):
            return int(context["pc"]), int(context["regs"][29])
        return int(context["gregs"][16]), int(context["gregs"][10])
    if machine.startswith("aarch64"):
        return word_at(sp + 88), word_at(sp + 80)
    return word_at(sp + 48), word_at(sp + 40)


def names_at(pc):
    """The function at an address, and those that were inlined into it there, innermost first."""
    names = []
    block = gdb.block_for_pc(pc)
    while block is not None and not block.is_global and not block.is_static:
        if block.function is not None:
            names.append(block.function.print_name)
        block = block.superblock
    return names or ["??"]


def backtrace(task):
    pc, fp = saved_registers(task["fiber"])
    for number in range(FRAMES_MAX):
        # The return address may be the first of another line: look at the call before it.
        line = gdb.find_pc_line(pc - 1)
        where = f" at {line.symtab.filename}:{line.line}" if line.symtab is not None else ""
        print(f"#{number:<3} 0x{pc:016x} in {' < '.join(names_at(pc - 1))}{where}")
        if fp == 0:
            break
        next_fp, pc = word_at(fp), word_at(fp + 8)
        if pc == 0 or (next_fp != 0 and next_fp <= fp):
            break
        fp = next_fp


def find_task(wanted):
    tasks = live_tasks()
    if wanted.isdigit() and 1 <= int(wanted) <= len(tasks):
        return tasks[int(wanted) - 1]
    for task in tasks:
        if task["name"].string() == wanted or hex(int(task)) == wanted:
            return task
    raise gdb.GdbError(f"no live task is called '{wanted}'; fiber-list shows them")


class FiberList(gdb.Command):
    """fiber-list -- every live task: number, name, invocation, what it waits for."""

    def __init__(self):
        super().__init__("fiber-list", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        current = int(static_variable("task.c", "tasks")["current"])
        for number, task in enumerate(live_tasks(), 1):
            waits = "ready to run"
            if int(task) == current:
                waits = "running: see bt"
            elif int(task["waiting"]) != 0:
                waits = "waits for " + task["waiting"]["what"].string()
            print(f"{number:>4}  {hex(int(task))}  {task['name'].string()}  "
                  f"invocation '{text(task['log']['invocation'])}'  {waits}")


class FiberBacktrace(gdb.Command):
    """fiber-bt TASK -- the backtrace of a parked task, by its number in fiber-list, its name, or its address."""

    def __init__(self):
        super().__init__("fiber-bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if not argument.strip():
            raise gdb.GdbError("usage: fiber-bt NUMBER|NAME|ADDRESS; fiber-list shows them")
        task = find_task(argument.strip())
        if int(task) == int(static_variable("task.c", "tasks")["current"]):
            raise gdb.GdbError("this task is running: bt shows its frames")
        backtrace(task)


FiberList()
FiberBacktrace()
