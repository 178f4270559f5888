// SPDX-License-Identifier: Apache-2.0
/** TensorFlow Lite's functions of quantized numbers as tables with an element for each number. */
package io.kiln.ir.arith.table;
