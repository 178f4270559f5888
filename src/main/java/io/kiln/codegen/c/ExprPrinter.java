// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.base.DType;
import io.kiln.tir.Expr;
import io.kiln.tir.ExprText;

/** Prints expressions as C. */
final class ExprPrinter {
    private static final ExprText C = new ExprText(new Notation());

    private ExprPrinter() {}

    static String print(Expr expr) {
        return C.print(expr);
    }

    private static final class Notation implements ExprText.Notation {
        @Override
        public String integer(Expr.IntImm imm) {
            long value = imm.value();
            if (imm.dtype() == DType.INT64) {
                return value == Long.MIN_VALUE ? "INT64_MIN" : "INT64_C(" + value + ")";
            }
            if (imm.dtype() == DType.UINT64) {
                return "UINT64_C(" + Long.toUnsignedString(value) + ")";
            }
            if (imm.dtype() == DType.UINT32) {
                return value + "u";
            }
            return value == Integer.MIN_VALUE ? "INT32_MIN" : Long.toString(value);
        }

        @Override
        public String real(Expr.FloatImm imm) {
            return FloatLiteral.of(Float.floatToRawIntBits(imm.value()));
        }

        @Override
        public String type(DType dtype) {
            return dtype.cName();
        }
    }
}
