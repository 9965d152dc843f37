/* fiber_x86_64.S -- trestle_fiber_switch(void **save_sp, void *load_sp), and where a new fiber begins.
 *
 * Saves what the System V ABI makes the callee keep, on the stack that is left; loads the same from the other. The SSE and
 * x87 control words are not saved: no code here changes them. Without a .note.gnu.property section this object is not
 * marked for hardware shadow stacks, so the linker leaves them off for the program, as a switch of stacks requires.
 *
 * SPDX-License-Identifier: MIT */
    .text
    .globl trestle_fiber_switch
    .type trestle_fiber_switch, @function
    .p2align 4
trestle_fiber_switch:
    .cfi_startproc
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .cfi_endproc
    .size trestle_fiber_switch, .-trestle_fiber_switch

/* r12: function, r13: its argument, as fiber.c laid them out. Nothing to return to: backtraces end here. */
    .globl trestle_fiber_begin
    .type trestle_fiber_begin, @function
    .p2align 4
trestle_fiber_begin:
    .cfi_startproc
    .cfi_undefined rip
    xorl %ebp, %ebp
    movq %r13, %rdi
    callq *%r12
    ud2
    .cfi_endproc
    .size trestle_fiber_begin, .-trestle_fiber_begin

    .section .note.GNU-stack, "", @progbits
