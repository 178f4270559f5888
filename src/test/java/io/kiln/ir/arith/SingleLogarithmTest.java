// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Logarithms in single precision: near the exact ones, and the same in the integers of generated C. */
class SingleLogarithmTest {
    private static final int STEP = 16;

    @TempDir
    private Path folder;

    private int digest;

    @Test
    void areWithinOneUnitOfTheExactOnes() {
        forEach(STEP * 16, bits -> {
            float x = Float.intBitsToFloat(bits);
            double exact = Math.log(x);
            if (Math.abs(SingleLogarithm.of(x) - exact) > Math.ulp((float) exact)) {
                throw new AssertionError("logarithm of " + x);
            }
        });
    }

    @Test
    void integersComputeTheSame() {
        TestToolchains.resolve("host", "c -keys=cpu -model=host");
        Path program = folder.resolve("logarithms");
        Path kernels = Path.of("src", "main", "resources", "kernels", "portable", "single");
        Path source = Path.of("src", "test", "c", "single_log_test.c");
        List<String> warnings = List.of("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror");
        List<String> files = List.of("-O2", "-I", kernels.toString(), "-o", program.toString(), source.toString());
        run(Command.of("cc", Stream.concat(warnings.stream(), files.stream()).toList()));
        forEach(
                STEP,
                bits -> digest = 31 * digest + Float.floatToIntBits(SingleLogarithm.of(Float.intBitsToFloat(bits))));
        assertThat(run(Command.of(program.toString()))).isEqualTo(Integer.toUnsignedString(digest));
    }

    private static String run(Command command) {
        ProcessResult result = ProcessRunner.run(command);
        assertThat(result.succeeded()).as(result.message()).isTrue();
        return result.output();
    }

    private static void forEach(int step, IntConsumer action) {
        int most = Float.floatToIntBits(SingleLogarithm.MOST);
        for (int bits = Float.floatToIntBits(1); bits <= most; bits += step) {
            action.accept(bits);
        }
    }
}
