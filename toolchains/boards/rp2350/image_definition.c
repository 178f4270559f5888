/* SPDX-License-Identifier: Apache-2.0
 *
 * What the boot ROM of an RP2350 looks for in the first 4 KiB of the flash (RP2350 Datasheet, 5.9.5.1): without it, the flash counts as empty.
 * This is the only block, and says: a program for the Arm cores in the secure state. Its vectors lie at the start of the flash, as nothing
 * says otherwise.
 */
#include <stdint.h>

#define BLOCK_START 0xffffded3u
#define IMAGE_TYPE 0x10210142u /* of one word: executable, secure, Arm, RP2350 */
#define LAST_ITEM 0x000001ffu  /* the items before it take one word */
#define ONLY_BLOCK 0u          /* distance of the next block: this one again */
#define BLOCK_END 0xab123579u

__attribute__((section(".imagedef"), used)) static const uint32_t kiln_image_definition[] = {
    BLOCK_START, IMAGE_TYPE, LAST_ITEM, ONLY_BLOCK, BLOCK_END};
