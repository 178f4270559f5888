// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.ir.arith.Int16Functions;
import io.kiln.tir.Intrinsic;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The functions of gates in 16-bit fixed point: the C against the definition in Java, and that against real numbers. */
class GateFunctionsTest {
    private static final double ONE = 1 << 15;

    /** Largest error of the functions, in units of 2^-15. */
    private static final double MOST = 16;

    private static final String MAIN = """
            int main(void) {
              uint32_t sum = 0;
              for (int32_t x = -32768; x < 32768; ++x) {
                sum = sum * 31 + (uint32_t)kiln_logistic_short(x);
                for (int32_t bits = 0; bits <= 6; ++bits) {
                  sum = sum * 31 + (uint32_t)kiln_tanh_short(x, bits);
                }
              }
              printf("%ld", (long)(int32_t)sum);
              return 0;
            }
            """;

    @Test
    void theirCIsWhatJavaComputesForEveryArgument(@TempDir Path folder) {
        String functions = Stream.concat(
                        Intrinsics.LOGISTIC_SHORT.uses().stream(),
                        Stream.of(Intrinsics.LOGISTIC_SHORT, Intrinsics.TANH_SHORT))
                .map(Intrinsic::definition)
                .collect(Collectors.joining("\n"));
        String output = CheckedProgram.run(folder, "#include <stdint.h>\n#include <stdio.h>\n" + functions + MAIN);
        assertThat(output.trim()).isEqualTo(Integer.toString(sum()));
    }

    private static int sum() {
        int sum = 0;
        for (int x = Short.MIN_VALUE; x <= Short.MAX_VALUE; x++) {
            sum = sum * 31 + Int16Functions.logistic(x);
            for (int bits = 0; bits <= Int16Functions.MOST_BITS; bits++) {
                sum = sum * 31 + Int16Functions.tanh(x, bits);
            }
        }
        return sum;
    }

    @Test
    void theyAreNearTheRealFunctions() {
        for (int x = Short.MIN_VALUE; x <= Short.MAX_VALUE; x++) {
            double gate = x * (1 << Int16Functions.GATE_BITS) / ONE;
            assertThat(Math.abs(Int16Functions.logistic(x) - ONE / (1 + Math.exp(-gate))))
                    .isLessThan(MOST);
            assertThat(Math.abs(Int16Functions.tanh(x, Int16Functions.GATE_BITS) - ONE * Math.tanh(gate)))
                    .isLessThan(MOST);
        }
    }
}
