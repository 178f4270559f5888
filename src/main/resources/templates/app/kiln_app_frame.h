/* SPDX-License-Identifier: Apache-2.0
 *
 * microTVM's framing on the console, byte by byte and without a packet buffer.
 */
#ifndef KILN_APP_FRAME_H_
#define KILN_APP_FRAME_H_

#include <stdint.h>

/* What kiln_frame_get returns beside a byte. */
#define KILN_FRAME_STARTED (-1) /* another packet began in the middle of this one */
#define KILN_FRAME_BROKEN (-2)  /* invalid escape */
#define KILN_FRAME_ENDED (-3)   /* the console has ended */

/* Skips to the start of a packet; negative KILN_FRAME_ENDED if none comes. */
int kiln_frame_find(void);

/* Begins a packet whose FF FD has been read. */
void kiln_frame_accept(void);

/* The next byte of the packet, or one of the above. */
int kiln_frame_get(void);

/* Reads the packet's CRC: 1 if it is right, 0 if not, or one of the above. */
int kiln_frame_check(void);

/* Sends a packet: begin, put as many bytes as said, end. */
void kiln_frame_begin(uint32_t length);
void kiln_frame_put(uint8_t byte);
void kiln_frame_put_u32(uint32_t value);
void kiln_frame_end(void);

#endif
