// SPDX-License-Identifier: Apache-2.0
/** What importers ask about an operator and its operands. */
package io.kiln.frontend.tflite.operand;
