/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_BOARD_H_
#define KILN_BOARD_H_

#define KILN_PROTECT_CODE /* it lies in RAM */

#endif
