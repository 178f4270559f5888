// SPDX-License-Identifier: Apache-2.0
/** TensorFlow Lite's functions of quantized numbers as tables with one element per input value. */
package io.kiln.ir.arith.table;
