// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.shl;
import static io.kiln.tir.Exprs.sub;
import static io.kiln.tir.Exprs.var;
import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.CText;
import io.kiln.base.DType;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import org.junit.jupiter.api.Test;

class ExprPrinterTest {
    private static final Expr A = var("a");
    private static final Expr B = var("b");

    @Test
    void parenthesesStandOnlyWhereTheyAreNeeded() {
        assertThat(FunctionPrinter.expression(mul(add(A, B), A))).isEqualTo("(a + b) * a");
        assertThat(FunctionPrinter.expression(add(mul(A, B), A))).isEqualTo("a * b + a");
        assertThat(FunctionPrinter.expression(sub(A, sub(B, A)))).isEqualTo("a - (b - a)");
        assertThat(FunctionPrinter.expression(add(A, add(B, A)))).isEqualTo("a + b + a");
        assertThat(FunctionPrinter.expression(sub(imm(0), add(A, B)))).isEqualTo("-(a + b)");
        assertThat(FunctionPrinter.expression(shl(add(A, B), imm(2)))).isEqualTo("(a + b) << 2");
        assertThat(FunctionPrinter.expression(cast(DType.INT64, add(A, B)))).isEqualTo("(int64_t)(a + b)");
        assertThat(FunctionPrinter.expression(Exprs.max(A, imm(0)))).isEqualTo("a > 0 ? a : 0");
    }

    @Test
    void constantsFoldAndMerge() {
        assertThat(FunctionPrinter.expression(add(add(A, imm(3)), imm(-5)))).isEqualTo("a - 2");
        assertThat(FunctionPrinter.expression(mul(mul(A, imm(3)), imm(5)))).isEqualTo("a * 15");
        assertThat(FunctionPrinter.expression(mul(A, imm(0)))).isEqualTo("0");
        assertThat(FunctionPrinter.expression(sub(A, imm(-128)))).isEqualTo("a + 128");
    }

    @Test
    void literalsOf64BitsWithoutSignKeepTheirOrder() {
        Expr largest = imm(-1, DType.UINT64);
        Expr two = imm(2, DType.UINT64);
        assertThat(FunctionPrinter.expression(Exprs.max(two, largest)))
                .isEqualTo(
                        "UINT64_C(2) > UINT64_C(18446744073709551615) ? UINT64_C(2) : UINT64_C(18446744073709551615)");
        assertThat(FunctionPrinter.expression(Exprs.div(largest, two)))
                .isEqualTo("UINT64_C(18446744073709551615) / UINT64_C(2)");
        assertThat(FunctionPrinter.expression(
                        add(Exprs.load(new Buffer("x", DType.UINT64, 1, Buffer.Scope.INPUT), imm(0)), largest)))
                .isEqualTo("x[0] + UINT64_C(18446744073709551615)");
    }

    @Test
    void literalsAreValidC() {
        assertThat(FunctionPrinter.expression(imm(Integer.MIN_VALUE))).isEqualTo("INT32_MIN");
        assertThat(FunctionPrinter.expression(imm(7, DType.INT64))).isEqualTo("INT64_C(7)");
        assertThat(FunctionPrinter.expression(imm(0x80000000L, DType.UINT32))).isEqualTo("2147483648u");
        assertThat(FunctionPrinter.expression(imm(-1, DType.UINT64))).isEqualTo("UINT64_C(18446744073709551615)");
        assertThat(FunctionPrinter.expression(imm(1e-10f))).isEqualTo("1.0e-10f");
    }

    @Test
    void commentsCannotBeLeft() {
        assertThat(CText.comment("a */ b\n/* c é")).isEqualTo("a * / b?/ * c ?");
    }

    /** GCC and clang join lines at a backslash with blanks behind it as well. */
    @Test
    void noCommentTakesInTheNextLine() {
        for (String end : new String[] {"\\", "\\ ", "\\   ", "\\\\ "}) {
            assertThat(CText.comment("a " + end).stripTrailing()).isEqualTo("a " + end + ".");
        }
        assertThat(CText.comment("a \\\t")).isEqualTo("a \\?");
        assertThat(CText.comment("a\\b ")).isEqualTo("a\\b ");
    }
}
