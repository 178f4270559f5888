// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.llvm;

import io.kiln.base.DType;
import io.kiln.tir.Exprs;

/** Types of LLVM for element types: as they lie in memory, and as values. Signs are properties of instructions, not of types. */
final class IrType {
    /** The type of conditions. */
    static final String CONDITION = "i1";

    private static final int BYTE = 8;

    private IrType() {}

    /** The type of an element in memory. */
    static String inMemory(DType dtype) {
        return dtype.isFloat() ? "float" : "i" + bits(dtype);
    }

    /** The type of a scalar with this element type, before promotion. */
    static String ofScalar(DType dtype) {
        return dtype == DType.BOOL ? CONDITION : inMemory(dtype);
    }

    /** The element type in which C computes with it; bool stays bool as long as nothing is computed. */
    static DType promoted(DType dtype) {
        return dtype == DType.BOOL ? dtype : Exprs.promote(dtype, dtype);
    }

    /** Width of an element in memory. */
    static int bits(DType dtype) {
        return dtype.bytes() * BYTE;
    }

    /** Whether an element widens with zeros. */
    static boolean isUnsigned(DType dtype) {
        return switch (dtype) {
            case UINT8, UINT32, UINT64, BOOL -> true;
            case INT8, INT16, INT32, INT64, FLOAT32 -> false;
        };
    }

    /**
     * How a parameter is handed over: calling conventions widen narrow integers in the caller, and callees rely on it.
     *
     * @param bits width of a general register
     */
    static String parameter(DType dtype, int bits) {
        String extension =
                dtype.isFloat() || bits(dtype) >= Integer.SIZE ? "" : isUnsigned(dtype) ? " zeroext" : " signext";
        boolean isWord = bits > Integer.SIZE && dtype.isInteger() && bits(dtype) == Integer.SIZE;
        return ofScalar(dtype) + " noundef" + (isWord ? "" : extension);
    }
}
