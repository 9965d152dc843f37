/* asset.S -- one file as bytes of the binary: ASSET is the symbol, ASSET_END the one behind it, FILE the path.
 *
 * Assembled once for each name in meson.build's list of assets. Nothing here depends on the processor.
 *
 * SPDX-License-Identifier: MIT */
    .section .rodata
    .globl ASSET
    .globl ASSET_END
    .p2align 4
ASSET:
    .incbin FILE
ASSET_END:
    .byte 0 /* who takes it for a text finds an end */
    .type ASSET, %object
    .size ASSET, ASSET_END - ASSET

    .section .note.GNU-stack, "", %progbits
