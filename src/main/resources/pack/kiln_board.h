/* SPDX-License-Identifier: Apache-2.0
 *
 * @DEVICE@, from the pack @PACK@.
 */
#ifndef KILN_BOARD_H_
#define KILN_BOARD_H_
@CLOCK@
#endif
