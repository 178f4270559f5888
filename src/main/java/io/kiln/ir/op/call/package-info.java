// SPDX-License-Identifier: Apache-2.0
/** Operators that call functions. */
package io.kiln.ir.op.call;
