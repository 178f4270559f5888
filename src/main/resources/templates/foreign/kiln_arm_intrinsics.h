/* SPDX-License-Identifier: Apache-2.0
 *
 * Included ahead of C that TVM generated with its kernels for Arm's DSP instructions. They define __ror, which <arm_acle.h> of clang and
 * of newer GCC has, too. The kernels' own gets another name here, and stays in its file, so that two models can be linked.
 */
#ifndef KILN_ARM_INTRINSICS_H_
#define KILN_ARM_INTRINSICS_H_

#if defined(__arm__)
#include <arm_acle.h>
#include <stdint.h>

#define __ror kiln_ror
static uint32_t __ror(uint32_t op1, uint32_t op2);
#endif

#endif /* KILN_ARM_INTRINSICS_H_ */
