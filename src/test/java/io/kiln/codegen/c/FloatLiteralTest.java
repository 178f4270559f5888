// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FloatLiteralTest {
    @ParameterizedTest
    @CsvSource({
        "0x3f000000, 0.5f",
        "0x80000000, -0.0f",
        "0x00000001, 1.4e-45f",
        "0xff7fffff, -3.4028235e38f",
        "0x7f800000, __builtin_inff()",
        "0xff800000, -__builtin_inff()",
        "0x7fc00000, '__builtin_nanf(\"\")'",
        "0xffc00000, '-__builtin_nanf(\"\")'",
        "0x7fc01234, '__builtin_nanf(\"0x1234\")'",
        "0xffffffff, '-__builtin_nanf(\"0x3fffff\")'",
        "0x7f800001, '__builtin_nansf(\"0x1\")'",
        "0xffa00000, '-__builtin_nansf(\"0x200000\")'"
    })
    void everyFloatHasOne(String bits, String text) {
        assertThat(FloatLiteral.of(Long.decode(bits).intValue())).isEqualTo(text);
    }

    @Test
    void aMinusNeedsNoParenthesesInAProduct() {
        Expr nan = Exprs.imm(Float.intBitsToFloat(0xFFC00000));
        Expr product = Exprs.mul(Exprs.imm(Float.NEGATIVE_INFINITY), nan);
        assertThat(FunctionPrinter.expression(product)).isEqualTo("-__builtin_inff() * -__builtin_nanf(\"\")");
    }
}
