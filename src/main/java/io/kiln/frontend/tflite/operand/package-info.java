// SPDX-License-Identifier: Apache-2.0
/** Helpers of importers for operators and their operands. */
package io.kiln.frontend.tflite.operand;
