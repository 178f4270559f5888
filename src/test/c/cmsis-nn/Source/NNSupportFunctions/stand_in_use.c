/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnsupportfunctions.h"

arm_cmsis_nn_status stand_in_use(const cmsis_nn_context* ctx, int32_t bytes) {
  if (bytes == 0) {
    return ARM_CMSIS_NN_SUCCESS;
  }
  if (ctx->buf == NULL || ctx->size < bytes) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  memset(ctx->buf, 0x5A, (size_t)bytes);
  return ARM_CMSIS_NN_SUCCESS;
}
