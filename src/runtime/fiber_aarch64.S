/* fiber_aarch64.S -- trestle_fiber_switch(void **save_sp, void *load_sp), and where a new fiber begins.
 *
 * Saves what AAPCS64 makes the callee keep: x19-x30 and the lower halves of v8-v15, 160 bytes, on the stack that is left.
 * Compiled by the tests when a cross compiler is there; not run on hardware.
 *
 * SPDX-License-Identifier: MIT */
    .text
    .globl trestle_fiber_switch
    .type trestle_fiber_switch, %function
    .p2align 4
trestle_fiber_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x2, sp
    str x2, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size trestle_fiber_switch, .-trestle_fiber_switch

/* x19: function, x20: its argument, as fiber.c laid them out. Nothing to return to: backtraces end here. */
    .globl trestle_fiber_begin
    .type trestle_fiber_begin, %function
    .p2align 4
trestle_fiber_begin:
    .cfi_startproc
    .cfi_undefined x30
    mov x29, #0
    mov x30, #0
    mov x0, x20
    blr x19
    brk #1
    .cfi_endproc
    .size trestle_fiber_begin, .-trestle_fiber_begin

    .section .note.GNU-stack, "", %progbits
