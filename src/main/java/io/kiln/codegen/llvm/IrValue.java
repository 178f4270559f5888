// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.llvm;

import io.kiln.base.DType;

/**
 * A value in a register, or a constant.
 *
 * @param dtype promoted type: bool, an integer of 32 or 64 bits, or float32
 * @param text its name or the constant, without the type
 */
record IrValue(DType dtype, String text) {
    String type() {
        return IrType.ofScalar(dtype);
    }

    /** The value with its type, as operands are written. */
    String typed() {
        return type() + " " + text;
    }
}
